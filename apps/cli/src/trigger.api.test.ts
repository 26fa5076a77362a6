import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SESSION_CODE_NAMES, SESSION_CODES, WEBHOOK_EVENTS } from '@ostiary/contract'
import { startApi } from './testing/running-api.ts'
import { areasOf, EVENT_NAMES } from './trigger/stories.ts'

const api = await startApi('trigger')

/** Nobody listens there: the deliveries stay pending, and the bodies are read from the API. */
const CALLBACK = '--callback https://host.example/hook'

const slowest: [string, number][] = []

async function triggered(words: string) {
  const startedAt = performance.now()
  const { code, out, err } = await api.cli(`trigger ${words} --json`)
  slowest.push([words, Math.round(performance.now() - startedAt)])
  assert.equal(code, 0, `${words}: ${err}`)
  return JSON.parse(out)
}

describe('ostiary trigger', () => {
  test('sends each of the events', async () => {
    assert.deepEqual(EVENT_NAMES, Object.keys(WEBHOOK_EVENTS))
    for (const event of EVENT_NAMES) {
      const { sessionId } = await triggered(`${event} ${CALLBACK}`)
      const { items } = await api.client().webhooks.list({ sessionId })
      assert.deepEqual(
        items.map((delivery) => delivery.event),
        [event],
      )
    }
  })

  test('without a callback, sends each of the events to the stream, where listen shows it', async () => {
    const { cursor } = await api.client().events.list()
    const sessions: string[] = []
    for (const event of EVENT_NAMES) sessions.push((await triggered(event)).sessionId)
    const { out } = await api.cli(`listen --from ${cursor} --count ${EVENT_NAMES.length} --json`)
    const shown = out.split('\n').map((line) => JSON.parse(line))
    assert.deepEqual(
      shown.map(({ event, sessionId }) => [event, sessionId]),
      EVENT_NAMES.map((event, at) => [event, sessions[at]]),
    )
  })

  test('sends every code that an ended session can have, in each area that has it', async () => {
    for (const name of SESSION_CODE_NAMES) {
      const { code, kind } = SESSION_CODES[name]
      for (const area of areasOf(name)) {
        const { event, errors, sessionId, outcome } = await triggered(`${code} --area ${area} ${CALLBACK}`)
        assert.ok(errors.includes(code), `${name} ${area}: ${errors}`)
        if (kind === 'D' && name !== 'ALREADY_ENROLLED') assert.ok(errors.includes(-19), name)
        const { items } = await api.client().webhooks.list({ sessionId })
        assert.deepEqual(
          items.map((delivery) => delivery.event),
          [event],
          name,
        )
        assert.equal(outcome === 'SUCCEEDED', name === 'ALREADY_ENROLLED', `${name} gives no verdict`)
      }
    }
  })

  test('a code may be named; a diagnostic one comes with -19; a live key is refused; the old number too', async () => {
    assert.deepEqual((await triggered('face-not-match')).errors, [-9])
    assert.deepEqual((await triggered('NETWORK_LOST')).errors, [-21, -19])
    assert.deepEqual((await triggered('desktop')).errors, [-5, -8])
    assert.equal((await triggered('-34')).body.riskEvaluation.recommendation, 'BLOCK')
    const live = await api.cli('trigger 1', { ...api.env, OSTIARY_API_KEY: api.liveKey })
    assert.match(live.err, /^trigger needs a test key/)
    assert.match((await api.cli('trigger -13')).err, /^-13 is never sent: it is the old number of SESSION_EXPIRED/)
    assert.match((await api.cli('trigger age.session.complete')).err, /Did you mean age\.session\.completed\?/)
    const { events, codes } = JSON.parse((await api.cli('trigger --list --json')).out)
    assert.deepEqual([events.length, codes.length], [5, SESSION_CODE_NAMES.length])
  })

  test('how long each took', (t) => {
    const [first, ...others] = slowest.toSorted(([, one], [, other]) => other - one)
    t.diagnostic(`${slowest.length} triggered; slowest ${first}, then ${others[0]}; the goal is 2000 ms each`)
  })
})

describe('ostiary sessions and deliveries', () => {
  test('a session is listed, shown, watched to its end and cancelled', async () => {
    const created = await api.client().age.create({ redirectUrl: 'https://shop.example/done', ageThreshold: 30 })
    assert.match((await api.cli('sessions list --area age --limit 1')).out, new RegExp(created.sessionId))
    const both = JSON.parse((await api.cli('sessions list --limit 200 --json')).out)
    assert.deepEqual([...new Set(both.map(({ area }: { area: string }) => area))].sort(), ['age', 'verification'])
    const watching = api.cli(`sessions watch ${created.token} --json`)
    assert.match((await api.cli(`sessions cancel ${created.token}`)).out, /is cancelled$/)
    const lines = (await watching).out.split('\n').map((line) => JSON.parse(line))
    assert.equal(lines.at(-1).outcome, 'CANCELLED')
    const shown = JSON.parse((await api.cli(`sessions show ${created.token} --json`)).out)
    assert.deepEqual([shown.sessionId, shown.result.errors, shown.deliveries], [created.sessionId, [-38], []])
    assert.match((await api.cli(`sessions show ${created.sessionId}`)).out, /Its result is shown to its token/)
    const { sessionId } = await triggered(`verification.failed ${CALLBACK}`)
    const failed = JSON.parse((await api.cli(`sessions show ${sessionId} --json`)).out)
    assert.deepEqual([failed.area, failed.result.status, failed.deliveries.length], ['verification', 'FAILED', 1])
    const nobody = await api.cli('sessions show 00000000-0000-4000-8000-000000000000')
    assert.deepEqual([nobody.code, nobody.err.startsWith('Failed: There is no session')], [1, true])
  })

  test('sessions of area D are found by their transactionID', async () => {
    const asked = { redirectURL: 'https://shop.example/done', callback: { url: 'https://shop.example/hook' } }
    const create = (transactionID: string) =>
      api.client().verification.create({ ...asked, type: 'ENROLL', transactionID })
    const [{ sessionId }] = [await create('order 7'), await create('order 8')]
    const found = JSON.parse((await api.cli('sessions list --transaction-id "order 7" --json')).out)
    assert.deepEqual(
      found.map((row: { area: string; sessionId: string }) => [row.area, row.sessionId]),
      [['verification', sessionId]],
    )
    assert.equal((await api.cli('sessions list --transaction-id "order 9"')).out, 'There is no such session.')
    const refused = await api.cli('sessions list --area age --transaction-id "order 7"')
    assert.deepEqual([refused.code, refused.err.split('\n')[0]], [2, 'Age sessions have no --transaction-id'])
  })

  test('a delivery is listed, shown and sent again; a live key is warned', async () => {
    const { sessionId } = await triggered(`1 ${CALLBACK}`)
    const [delivery] = JSON.parse((await api.cli(`deliveries list --session ${sessionId} --json`)).out)
    assert.equal(delivery.event, 'age.session.completed')
    assert.match((await api.cli(`deliveries show ${delivery.id}`)).out, /https:\/\/host\.example[\s\S]*No attempt yet/)
    assert.match((await api.cli(`deliveries replay ${delivery.id}`)).out, /is sent again: age\.session\.completed/)
    const none = await api.cli('deliveries replay --since 2026-01-01T00:00:00Z --json')
    assert.deepEqual(JSON.parse(none.out), { count: 0 })
    const live = await api.cli(`deliveries replay ${delivery.id}`, { ...api.env, OSTIARY_API_KEY: api.liveKey })
    assert.match(live.err, /^This is a live key: it changes real data at http/)
    assert.equal(live.code, 1, 'a test delivery is not there for it')
  })
})
