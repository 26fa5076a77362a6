import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lookUpNetwork, type NetworkListName, parseNetworkList } from './network-lists.ts'

function parse(name: NetworkListName, text: string) {
  const work = parseNetworkList(name, text)
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next()
    if (done) return { ranges: value, pauses }
  }
}
const refusalOf = (name: NetworkListName, text: string) => {
  let message = 'taken'
  try {
    parse(name, text)
  } catch (error) {
    message = (error as Error).message
  }
  return message
}

test('a list has a network or an address per line; comments, empty lines and ends of lines of any system are passed over', () => {
  const text = '\ufeff# exits\r\n\r\n192.0.2.0/24\r\n  198.51.100.7   # one machine\n\n2001:db8::/32 #\n203.0.113.0/24'
  const { ranges } = parse('tor', text)
  assert.equal(ranges.size, 4)
  for (const address of ['192.0.2.9', '198.51.100.7', '2001:db8::9', '203.0.113.255'])
    assert.equal(ranges.find(address), 1, address)
})

test('each of the 676 pairs of letters is a country that is found again', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const countries = letters.flatMap((first) => letters.map((second) => first + second))
  const addressOf = (at: number) => `10.${at >> 8}.${at & 255}`
  const text = countries.map((country, at) => `${addressOf(at)}.0/24 , ${at % 2 ? country.toLowerCase() : country}`)
  const lists = { countries: parse('countries', text.join('\n')).ranges }
  for (const [at, country] of countries.entries())
    assert.deepEqual(lookUpNetwork(lists, `${addressOf(at)}.9`), { tor: false, datacenter: false, country })
})

test('without a list nothing is known about an address', () => {
  assert.deepEqual(lookUpNetwork({}, '192.0.2.1'), { tor: false, datacenter: false, country: null })
})

test('each list says its own about an address', () => {
  const lists = { tor: parse('tor', '192.0.2.1').ranges, datacenter: parse('datacenter', '192.0.2.0/30').ranges }
  const said = ['192.0.2.1', '192.0.2.2', '192.0.2.4'].map((address) => lookUpNetwork(lists, address))
  assert.deepEqual(said, [
    { tor: true, datacenter: true, country: null },
    { tor: false, datacenter: true, country: null },
    { tor: false, datacenter: false, country: null },
  ])
})

describe('a list is refused as a whole', () => {
  const NOT_A_COUNTRY = 'is not a network, a comma and the two letters of a country'
  for (const [name, text, why] of [
    ['tor', '192.0.2.1\n# a comment\n\n192.0.2.300\n', 'line 4 is not a network such as 192.0.2.0/24 or 2001:db8::/32'],
    ['datacenter', '192.0.2.1/24', 'line 1 does not begin at the first address of its network'],
    ['tor', '192.0.2.0/24,DE', 'line 1 is not a network such as 192.0.2.0/24 or 2001:db8::/32'],
    ['countries', '192.0.2.0/24', `line 1 ${NOT_A_COUNTRY}`],
    ['countries', '192.0.2.0/24,DE\nnetwork,country', `line 2 ${NOT_A_COUNTRY}`],
    ['countries', '192.0.2.0/24,DEU', `line 1 ${NOT_A_COUNTRY}`],
    ['countries', '192.0.2.0/24,D1', `line 1 ${NOT_A_COUNTRY}`],
    ['countries', '192.0.2.0/24,DE,FR', `line 1 ${NOT_A_COUNTRY}`],
    ['countries', '192.0.2.0/24;DE', `line 1 ${NOT_A_COUNTRY}`],
    ['countries', '192.0.2.9/24,DE', 'line 1 does not begin at the first address of its network'],
    ['tor', '', 'has no network in it'],
    ['tor', '# nothing today\n', 'has no network in it'],
    ['tor', '<!doctype html>', 'line 1 is not a network such as 192.0.2.0/24 or 2001:db8::/32'],
  ] as const) {
    test(`${JSON.stringify(text)} in ${name}: ${why}`, () => assert.equal(refusalOf(name, text), why))
  }
})

test('100,000 lines are read with pauses', () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`)
  const { ranges, pauses } = parse('datacenter', lines.join('\n'))
  assert.equal(ranges.size, 100_000)
  assert.ok(pauses >= 50, `${pauses} pauses`)
})
