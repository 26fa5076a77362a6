import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { after, beforeEach, describe, test } from 'node:test'
import type { Handoff, LaunchState } from '@ostiary/contract'
import { DEVICE_PROOF_HEADER } from '@ostiary/crypto'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { closeGently } from '../platform/http.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../testing/database-proxy.ts'
import { assertError } from '../testing/harness.ts'
import { startStopwatch } from '../testing/stopwatch.ts'
import { makeSubmission, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf, type Page, stateBody } from './testing/page.ts'
import { LAPTOP } from './testing/user-agents.ts'

let proxy: DatabaseProxy
/** The statements sent to the database so far. A read of a session has its id as a value. */
let statements: string[] = []
const looksAt = ({ sessionId }: Page) => statements.filter((statement) => statement.includes(sessionId)).length
const through = async (url: string) => {
  proxy = await startDatabaseProxy(url, (chunk) => statements.push(chunk.toString('latin1')))
  return proxy.url
}
const fixture = await createLaunchFixture({}, { through })
beforeEach(() => {
  statements = []
})
after(() => proxy.close())

const ORIGIN = 'http://localhost:8080'

/** The stream as it arrives over a connection. */
async function stream(page: Page, signal?: AbortSignal) {
  const proof = await page.prove('GET', '/launch/api/status', Buffer.of())
  const url = `${fixture.baseUrl}/launch/api/status?sessionId=${page.sessionId}`
  return fetch(url, { headers: { [DEVICE_PROOF_HEADER]: proof }, ...(signal && { signal }) })
}

/** What has arrived of a stream so far. */
function read(response: Response) {
  let text = ''
  const done = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  })()
  return { text: () => text, done }
}

async function openedPage(body?: object) {
  const created = await fixture.create(body)
  const page = await createPage(fixture, created.sessionId)
  await page.open()
  return { created, page }
}

describe('status', () => {
  test('sends the first device every state in order until the end, and then ends', async () => {
    const created = await fixture.create()
    const { device } = await fixture.device(created.sessionId, { platform: 'desktop', userAgent: LAPTOP })
    await device.open()
    const handoff = await device.handoff()
    const received: LaunchState[] = []
    const watching = device.watch((state) => received.push(state), new AbortController().signal)
    const next = (state: string) => eventually(() => received.at(-1)?.state === state, `the state ${state}`)
    await next('HANDOFF_WAIT')
    const phone = await createPage(fixture, created.sessionId)
    await phone.takeOver(handoff)
    await next('OPENED')
    await phone.consent()
    await next('READY')
    const challenge = await phone.challenge()
    await next('FACE_ACTIVE')
    await send(phone, await makeSubmission(phone, challenge))
    await watching
    const role = 'viewer' as const
    assert.deepEqual(received, [
      stateBody(created, { role, state: 'HANDOFF_WAIT' }),
      stateBody(created, { role, state: 'OPENED' }),
      stateBody(created, { role, state: 'READY' }),
      stateBody(created, { role, state: 'FACE_ACTIVE', attempt: 1, attemptsLeft: 2 }),
      stateBody(created, { role, state: 'COMPLETED', flowStatus: 'COMPLETED' }),
    ])
  })

  test('is a stream of server-sent events that no proxy buffers', async () => {
    const { created, page } = await openedPage()
    await page.cancel()
    const response = await stream(page)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    const ended = { role: 'viewer', state: 'CANCELLED', flowStatus: 'CANCELLED' } as const
    const expected = JSON.stringify(stateBody(created, ended))
    assert.equal(await response.text(), `event: state\ndata: ${expected}\n\n`)
  })

  test('sends the device its current role, and ends for a device that lost the session', async () => {
    const { created, page: first } = await openedPage()
    const handoff = okOf<Handoff>(await first.call('handoff'))
    const second = await createPage(fixture, created.sessionId)
    await second.takeOver(handoff)
    await second.consent()
    const [forFirst, forSecond] = [read(await stream(first)), read(await stream(second))]
    for (const { text } of [forFirst, forSecond]) await eventually(() => text().includes('"state":"READY"'), 'READY')
    okOf(await first.call('take-back'))
    await forSecond.done
    assert.match(forSecond.text(), /^event: state\ndata: \{[^\n]*"state":"READY","role":"holder"[^\n]*\n\n$/)
    await eventually(() => forFirst.text().includes('"state":"OPENED"'), 'OPENED')
    await first.cancel()
    await forFirst.done
    const roles = [...forFirst.text().matchAll(/"state":"(\w+)","role":"(\w+)"/g)].map(([, ...pair]) => pair)
    assert.deepEqual(roles, [
      ['READY', 'viewer'],
      ['OPENED', 'holder'],
      ['CANCELLED', 'viewer'],
    ])
  })

  test('sends a void code also if the phone came and was refused between two looks', async () => {
    const { created, page: first } = await openedPage()
    const { code, number } = okOf<Handoff>(await first.call('handoff'))
    const { text } = read(await stream(first))
    await eventually(() => text().includes('"state":"HANDOFF_WAIT"'), 'HANDOFF_WAIT')
    const phone = await createPage(fixture, created.sessionId)
    await phone.open({ handoffCode: code })
    const wrong = await phone.call('number', { number: number === '00' ? '01' : '00' })
    assert.equal(wrong.json().code, 'HANDOFF_REFUSED')
    await eventually(() => /"state":"HANDOFF_WAIT"[^\n]*"errors":\[-33\]/.test(text()), 'the void code')
  })

  test('sends comments while nothing happens, and ends after a quarter of an hour', async () => {
    const { page } = await openedPage({ sessionExpiry: 7_200 })
    const { text, done } = read(await stream(page))
    await eventually(() => text().includes('event: state'), 'the first state')
    fixture.harness.clock.advance(16_000)
    await eventually(() => text().endsWith(': still here\n\n'), 'a sign of life')
    fixture.harness.clock.advance(900_000)
    await done
    assert.equal(text().match(/event: state/g)?.length, 1)
  })

  test('ends on the server when the client leaves', async () => {
    const [leaves, stays] = [(await openedPage()).page, (await openedPage()).page]
    const leaving = new AbortController()
    const arrived = once(fixture.harness.app.server, 'request') as Promise<[IncomingMessage]>
    const response = await stream(leaves, leaving.signal)
    const [{ socket }] = await arrived
    assert.equal(response.status, 200)
    const staying = read(await stream(stays))
    const first = looksAt(leaves)
    await eventually(() => looksAt(leaves) >= first + 2, 'the server looks again and again')
    const isGone = once(socket, 'close')
    leaving.abort()
    await isGone
    // One more read may be under way. While the server reads three times for a page that stays, it would read twice for one that left.
    const [left, stayed] = [looksAt(leaves), looksAt(stays)]
    await eventually(() => looksAt(stays) >= stayed + 3, 'the server looks for the page that stays')
    assert.ok(looksAt(leaves) <= left + 1, 'the server still looks for a page that left')
    await stays.cancel()
    await staying.done
  })

  test('is one per device: a page that connects again ends its earlier stream and no other', async () => {
    const { created, page } = await openedPage()
    const { code } = okOf<{ code: string }>(await page.call('handoff'))
    const other = await createPage(fixture, created.sessionId)
    await other.open({ handoffCode: code })
    const [earlier, others] = [read(await stream(page)), read(await stream(other))]
    await eventually(() => earlier.text().includes('event: state'), 'the first state')
    const later = read(await stream(page))
    await earlier.done
    assert.equal(earlier.text().match(/event: state/g)?.length, 1)
    await other.cancel()
    for (const { text, done } of [later, others]) {
      await done
      assert.match(text(), /"flowStatus":"CANCELLED"/)
    }
  })

  test('404 for an unknown session, 400 without an id', async () => {
    const nobody = await createPage(fixture, '079b6cd9-f993-81a6-95fd-62194e74386d')
    assert.equal((await stream(nobody)).status, 404)
    const without = await fixture.harness.inject('/launch/api/status')
    assert.deepEqual([without.statusCode, without.json().code], [400, 'VALIDATION_FAILED'])
  })
})

describe('a browser', () => {
  const preflight = (origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' }
    return fixture.harness.inject({ method: 'OPTIONS', url: '/launch/api/open', headers })
  }

  test('on the launch page may call, and may read errors too', async () => {
    const asked = await preflight(ORIGIN)
    assert.deepEqual([asked.statusCode, asked.body], [204, ''])
    assert.equal(asked.headers['access-control-allow-origin'], ORIGIN)
    assert.equal(asked.headers['access-control-allow-methods'], 'GET, POST')
    assert.equal(asked.headers['access-control-allow-headers'], 'content-type, x-device-proof')
    assert.equal(asked.headers['access-control-max-age'], '600')
    assert.equal(asked.headers['access-control-allow-credentials'], undefined)
    const { page } = await openedPage()
    for (const tweak of [{}, { proof: null }]) {
      const reply = await page.call('cancel', {}, { ...tweak, headers: { origin: ORIGIN } })
      assert.equal(reply.headers['access-control-allow-origin'], ORIGIN)
      assert.equal(reply.headers['access-control-expose-headers'], 'date, retry-after, x-request-id')
      assert.equal(reply.headers.vary, 'origin')
    }
  })

  test('on any other page may not', async () => {
    const { page } = await openedPage()
    for (const origin of ['https://evil.example', `${ORIGIN}.evil.example`, 'http://localhost', 'null']) {
      const asked = await preflight(origin)
      assert.deepEqual([asked.statusCode, asked.body], [403, ''])
      const reply = await page.call('events', {}, { headers: { origin } })
      for (const { headers } of [asked, reply]) assert.equal(headers['access-control-allow-origin'], undefined)
    }
  })

  test('may call no other route from there', async () => {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' }
    const reply = await fixture.harness.inject({ method: 'OPTIONS', url: '/session', headers })
    assert.equal(reply.headers['access-control-allow-origin'], undefined)
    assert.equal(reply.statusCode, 405)
  })
})

describe('too many calls', () => {
  test('of one session: 429 for the 61st in a minute, and other sessions are not limited', async () => {
    fixture.harness.clock.advance(120_000)
    const { page } = await openedPage({ sessionExpiry: 7_200 })
    for (let sent = 1; sent < 60; sent++) assert.equal((await page.call('failure', { code: -21 })).statusCode, 200)
    const refused = await page.call('failure', { code: -21 })
    assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 1 })
    assert.equal(refused.headers['retry-after'], '1')
    await openedPage()
    fixture.harness.clock.advance(1_000)
    assert.equal((await page.call('failure', { code: -21 })).statusCode, 200)
  })

  test('of one address: 429 for the 301st in a minute, whatever the session, and not for another address', async () => {
    fixture.harness.clock.advance(120_000)
    const from = (remoteAddress: string, index: number) =>
      fixture.harness.inject({
        method: 'POST',
        url: '/launch/api/cancel',
        remoteAddress,
        payload: { sessionId: `079b6cd9-f993-81a6-95fd-${String(index).padStart(12, '0')}` },
      })
    for (let sent = 0; sent < 300; sent++) assert.equal((await from('198.51.100.7', sent)).statusCode, 404)
    assert.equal((await from('198.51.100.7', 300)).statusCode, 429)
    assert.equal((await from('198.51.100.8', 301)).statusCode, 404)
    fixture.harness.clock.advance(200)
    assert.equal((await from('198.51.100.7', 302)).statusCode, 404)
    assert.equal((await from('198.51.100.7', 303)).statusCode, 429)
  })
})

test('a process that is to end does not wait for watching devices', async () => {
  const { page } = await openedPage()
  const response = await stream(page)
  assert.equal(response.status, 200)
  const ranMs = startStopwatch()
  await Promise.all([closeGently(fixture.harness.app), response.text()])
  await figureAtMost('launch.close-while-watched-ms', 5_000, ranMs())
})
