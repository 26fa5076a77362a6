import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AgeResult, Handoff, OptionalRiskSource } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { isPurged } from '../sessions/index.ts'
import { assertError } from '../testing/harness.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf, type Page } from './testing/page.ts'
import { LAPTOP } from './testing/user-agents.ts'

const TOR = '203.0.113.66'
const RENTED = '198.51.100.10'
const HOME = '192.0.2.1'
const [OSLO, BERGEN, RIO] = ['192.0.2.10', '192.0.2.20', '192.0.2.30']

const folder = temporaryFolder('networks')
put('tor.txt', `${TOR}\n2001:db8:70::/48\n`)
put('datacenter.txt', '198.51.100.0/25\n')
put('countries.csv', `${OSLO}/32,NO\n${BERGEN}/32,NO\n${RIO}/32,BR\n`)
const fixture = await createLaunchFixture({ NETWORK_LISTS_DIR: folder, TRUST_PROXY: '127.0.0.1' })

function put(name: string, text: string): void {
  writeFileSync(join(folder, `${name}.new`), text)
  renameSync(join(folder, `${name}.new`), join(folder, name))
}

/** Opens the session from an address, as the trusted proxy tells it. */
async function open(page: Page, address: string, more: object = {}) {
  return okOf(await page.call('open', page.openBody(more), { headers: { 'x-forwarded-for': address } }))
}

const withSources = <T>(sources: readonly OptionalRiskSource[], work: () => Promise<T>) =>
  fixture.withSettings({ risk: { sources } }, work)

async function riskAfter(token: string, page: Page): Promise<AgeResult['riskEvaluation']> {
  await page.cancel()
  return (await fixture.result(token)).riskEvaluation
}

describe('the network of the device that holds the session', () => {
  const riskFrom = (address: string, sources: readonly OptionalRiskSource[] = ['network']) =>
    withSources(sources, async () => {
      const { token, sessionId } = await fixture.create()
      const page = await createPage(fixture, sessionId)
      await open(page, address)
      return riskAfter(token, page)
    })

  test('an exit of Tor raises NW_TOR, which alone is MEDIUM', async () => {
    for (const address of [TOR, `::ffff:${TOR}`, '2001:db8:70::9']) {
      const { score, level, recommendation, flags, signals } = await riskFrom(address)
      assert.deepEqual([score, level, recommendation, flags], [30, 'MEDIUM', 'REVIEW', ['NW_TOR']], address)
      assert.deepEqual(signals, { behavioral: null, browser: null, network: { score: 30, flags: ['NW_TOR'] } })
    }
  })

  test('a data centre raises NW_DATACENTER', async () => {
    const { score, level, flags } = await riskFrom(RENTED)
    assert.deepEqual([score, level, flags], [20, 'LOW', ['NW_DATACENTER']])
  })

  test('any other raises nothing, nor does the address that a stranger’s header claims', async () => {
    assert.deepEqual((await riskFrom(HOME)).flags, [])
    assert.deepEqual((await riskFrom(`${TOR}, ${HOME}`)).flags, [], 'the last one is what the proxy saw')
  })

  test('counts only for tenants who turn the source on: the others see two signals and no flag', async () => {
    const { flags, score, signals } = await riskFrom(TOR, [])
    assert.deepEqual([flags, score, signals], [[], 0, { behavioral: null, browser: null }])
  })

  test('counts again when the page is loaded again elsewhere, and a viewer’s does not count', async () => {
    await withSources(['network'], async () => {
      const { token, sessionId } = await fixture.create()
      const desktop = await createPage(fixture, sessionId, { platform: 'desktop', userAgent: LAPTOP })
      await open(desktop, RENTED)
      const { code } = okOf<Handoff>(await desktop.call('handoff'))
      const phone = await createPage(fixture, sessionId)
      await open(phone, HOME, { handoffCode: code })
      await open(phone, TOR)
      assert.deepEqual((await riskAfter(token, phone)).flags, ['NW_TOR'])
    })
  })

  test('a stranger who is refused raises no flag of the network', async () => {
    await withSources(['network'], async () => {
      const { token, sessionId } = await fixture.create()
      const page = await createPage(fixture, sessionId)
      await open(page, HOME)
      const stranger = await createPage(fixture, sessionId)
      const headers = { 'x-forwarded-for': TOR }
      assertError(
        await stranger.call('open', stranger.openBody(), { headers }),
        403,
        'DEVICE_MISMATCH',
        'The session is open on another device',
      )
      const code = { handoffCode: 'invented' }
      assertError(
        await stranger.call('open', stranger.openBody(code), { headers }),
        409,
        'HANDOFF_REFUSED',
        'This handoff code is not valid',
      )
      assert.deepEqual((await riskAfter(token, page)).signals.network, { score: 0, flags: [] })
    })
  })
})

describe('two devices of a handoff', () => {
  interface Where {
    address?: string
    utcOffsetMinutes?: number
  }

  async function handOver(first: Where, second: Where) {
    const { token, sessionId } = await fixture.create()
    const desktop = await createPage(fixture, sessionId, { platform: 'desktop', userAgent: LAPTOP })
    const { address: from = HOME, ...desk } = first
    await open(desktop, from, desk)
    const { code } = okOf<Handoff>(await desktop.call('handoff'))
    const phone = await createPage(fixture, sessionId)
    const { address: to = HOME, ...mobile } = second
    await open(phone, to, { handoffCode: code, ...mobile })
    return { token, sessionId, desktop, phone }
  }

  async function riskOf(first: Where, second: Where) {
    const { token, phone } = await handOver(first, second)
    const { flags, score, signals } = await riskAfter(token, phone)
    assert.deepEqual(signals.handoff, { score, flags })
    return [score, flags]
  }

  for (const [what, first, second, expected] of [
    ['in different countries', { address: OSLO }, { address: RIO }, [15, ['HO_NETWORK_FAR']]],
    ['in one country', { address: OSLO }, { address: BERGEN }, [0, []]],
    ['in time zones far apart', { utcOffsetMinutes: 60 }, { utcOffsetMinutes: -180 }, [15, ['HO_NETWORK_FAR']]],
    ['in neighbouring time zones', { utcOffsetMinutes: 60 }, { utcOffsetMinutes: 120 }, [0, []]],
    ['of which one page says no time zone', { utcOffsetMinutes: 60 }, {}, [0, []]],
    ['that are not in the list', { address: OSLO }, { address: HOME }, [0, []]],
  ] as const) {
    const isFar = expected[0] > 0
    test(`${what} ${isFar ? 'raise HO_NETWORK_FAR' : 'raise nothing'}`, async () => {
      await withSources(['handoff'], async () => assert.deepEqual(await riskOf(first, second), expected))
    })
  }

  test('keep their countries and time zones in the sealed session until its end, and no address', async () => {
    await withSources(['handoff'], async () => {
      const { token, sessionId, phone } = await handOver(
        { address: OSLO, utcOffsetMinutes: 61 },
        { address: RIO, utcOffsetMinutes: -181 },
      )
      const found = await fixture.harness.wire.sessions.service.find(sessionId)
      assert.ok(found && !isPurged(found) && found.progress)
      const { holder, viewer } = found.progress
      assert.deepEqual(viewer?.place, { country: 'NO', utcOffsetMinutes: 61 })
      assert.deepEqual(holder?.place, { country: 'BR', utcOffsetMinutes: -181 })
      const { dataKey: _key, ...whole } = found
      for (const address of [OSLO, RIO]) assert.ok(!JSON.stringify(whole).includes(address), address)
      await phone.cancel()
      const ended = await fixture.harness.wire.sessions.service.find(sessionId)
      assert.ok(ended && !isPurged(ended))
      assert.equal(ended.progress, null)
      assert.doesNotMatch(JSON.stringify(await fixture.result(token)), /utcOffset|country|"NO"|"BR"/)
      for (const address of [OSLO, RIO]) assert.ok(!fixture.harness.logged().includes(address), address)
    })
  })

  test('a session that the last release opened goes on: its first device has no place', async () => {
    await withSources(['handoff'], async () => {
      const { token, sessionId } = await fixture.create()
      const desktop = await createPage(fixture, sessionId, { platform: 'desktop', userAgent: LAPTOP })
      await open(desktop, OSLO, { utcOffsetMinutes: 60 })
      const { sessions } = fixture.harness.wire
      await sessions.service.whileLocked(sessionId, async (tx, session) => {
        assert.ok(!isPurged(session) && session.progress?.viewer)
        const { place: _place, ...viewer } = session.progress.viewer
        await sessions.service.save(tx, session, { state: session.state, progress: { ...session.progress, viewer } })
        return null
      })
      const { code } = okOf<Handoff>(await desktop.call('handoff'))
      const phone = await createPage(fixture, sessionId)
      await open(phone, RIO, { handoffCode: code, utcOffsetMinutes: -180 })
      assert.deepEqual((await riskAfter(token, phone)).flags, [])
    })
  })

  test('a time zone that does not exist is refused', async () => {
    const { sessionId } = await fixture.create()
    const page = await createPage(fixture, sessionId)
    for (const [utcOffsetMinutes, wanted] of [
      [841, '<= 840'],
      [-841, '>= -840'],
      [1.5, 'integer'],
      ['60', 'integer'],
    ]) {
      const details = [{ pointer: '/body/utcOffsetMinutes', message: `must be ${wanted}` }]
      const message = `The request is not valid: /body/utcOffsetMinutes must be ${wanted}`
      assertError(await page.tryOpen({ utcOffsetMinutes }), 400, 'VALIDATION_FAILED', message, { details })
    }
    await page.open({ utcOffsetMinutes: 840 })
  })
})

test('a list that changes counts from the next minute on', async () => {
  const NEWCOMER = '203.0.113.99'
  const flagsFrom = () =>
    withSources(['network'], async () => {
      const { token, sessionId } = await fixture.create()
      const page = await createPage(fixture, sessionId)
      await open(page, NEWCOMER)
      return (await riskAfter(token, page)).flags
    })
  assert.deepEqual(await flagsFrom(), [])
  put('tor.txt', `${TOR}\n${NEWCOMER}\n`)
  fixture.harness.clock.advance(60_000)
  await flagsFrom()
  const isLoaded = () => fixture.harness.logged().match(/"detail":"tor.txt","count":2/g)?.length === 2
  await eventually(isLoaded, 'the changed list is read')
  assert.deepEqual(await flagsFrom(), ['NW_TOR'])
})
