import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { networkFlags, type Place, placeOf } from './network-flags.ts'

const NOWHERE = { tor: false, datacenter: false, country: null }
const desk = (place?: Place) => ({ thumbprint: 'desk', ...(place && { place }) })
const phone = (place?: Place) => ({ thumbprint: 'phone', ...(place && { place }) })
const codes = (...of: Parameters<typeof networkFlags>) => networkFlags(...of).map(({ code }) => code)

describe('HO_NETWORK_FAR', () => {
  const raised = (first: Place | undefined, second: Place | undefined, handoffs = 1) =>
    codes({ viewer: desk(first), holder: phone(second), handoffs }, { thumbprint: 'phone', network: NOWHERE })
  const FAR = ['HO_NETWORK_FAR']
  const at = (utcOffsetMinutes: number): Place => ({ utcOffsetMinutes })

  for (const [what, first, second, expected] of [
    ['one time zone', at(60), at(60), []],
    ['almost three hours', at(0), at(179), []],
    ['three hours', at(0), at(180), FAR],
    ['three hours the other way', at(-60), at(-240), FAR],
    ['half the world', at(-720), at(0), FAR],
    ['both sides of the date line at one time of day', at(14 * 60), at(-10 * 60), []],
    ['the whole range of time zones', at(14 * 60), at(-12 * 60), []],
    ['both sides of the date line at another time of day', at(13 * 60), at(-7 * 60), FAR],
    ['one country', { country: 'NO' }, { country: 'NO' }, []],
    ['two countries', { country: 'NO' }, { country: 'BR' }, FAR],
    ['two countries in one time zone', { country: 'NO', ...at(60) }, { country: 'DE', ...at(60) }, FAR],
    ['one country in far time zones', { country: 'US', ...at(-300) }, { country: 'US', ...at(-600) }, FAR],
    ['a country and a time zone', { country: 'NO' }, at(600), []],
    ['a device of which nothing is known', undefined, { country: 'NO', ...at(60) }, []],
    ['two of which nothing is known', {}, {}, []],
  ] as const) {
    test(`${what}: ${expected.length > 0 ? 'raised' : 'not raised'}`, () => {
      assert.deepEqual(raised(first, second), expected)
    })
  }

  test('is not raised without a handoff, or while one device takes part', () => {
    const [norway, brazil] = [{ country: 'NO' }, { country: 'BR' }]
    assert.deepEqual(raised(norway, brazil, 0), [])
    const alone = { viewer: null, holder: phone(norway), handoffs: 1 }
    assert.deepEqual(codes(alone, { thumbprint: 'phone', network: NOWHERE }), [])
  })
})

describe('NW_DATACENTER and NW_TOR', () => {
  const devices = { viewer: desk(), holder: phone(), handoffs: 1 }
  const by = (thumbprint: string) =>
    codes(devices, { thumbprint, network: { tor: true, datacenter: true, country: null } })

  test('are raised by the device that holds the session', () => {
    assert.deepEqual(by('phone'), ['NW_DATACENTER', 'NW_TOR'])
    assert.deepEqual(codes(devices, { thumbprint: 'phone', network: { ...NOWHERE, tor: true } }), ['NW_TOR'])
    assert.deepEqual(codes(devices, { thumbprint: 'phone', network: { ...NOWHERE, datacenter: true } }), [
      'NW_DATACENTER',
    ])
  })

  test('are not raised by a viewer, nor by a stranger who was refused', () => {
    assert.deepEqual(by('desk'), [])
    assert.deepEqual(by('stranger'), [])
  })
})

test('a place has what is known, and nothing else', () => {
  assert.deepEqual(placeOf(NOWHERE, undefined), {})
  assert.deepEqual(placeOf({ tor: true, datacenter: true, country: 'NO' }, -90), {
    country: 'NO',
    utcOffsetMinutes: -90,
  })
})
