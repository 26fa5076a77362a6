import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LaunchState } from '@ostiary/contract'
import { DEVICE_PROOF_HEADER } from '@ostiary/crypto'
import { closeGently } from '../platform/http.ts'
import { assertError } from '../testing/harness.ts'
import { startStopwatch } from '../testing/stopwatch.ts'
import { makeSubmission, send } from './testing/capture.ts'
import { createPage, okOf, type Page, stateBody } from './testing/page.ts'
import { createStage, type Stage } from './testing/stage.ts'
import { LAPTOP } from './testing/user-agents.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.close())

const ORIGIN = 'http://localhost:8080'

async function until(what: () => boolean): Promise<void> {
  for (let waited = 0; !what(); waited += 20) {
    assert.ok(waited < 10_000, 'it did not happen in time')
    await sleep(20)
  }
}

/** The stream as it comes over a connection. */
async function stream(page: Page, signal?: AbortSignal) {
  const proof = await page.prove('GET', '/launch/api/status', Buffer.of())
  const url = `${stage.baseUrl}/launch/api/status?sessionId=${page.sessionId}`
  return fetch(url, { headers: { [DEVICE_PROOF_HEADER]: proof }, ...(signal && { signal }) })
}

async function openedPage(body?: object) {
  const created = await stage.create(body)
  const page = await createPage(stage, created.sessionId)
  await page.open()
  return { created, page }
}

describe('status', () => {
  test('tells the first device every state in order until the end, and then ends', async () => {
    const created = await stage.create()
    const { device } = await stage.device(created.sessionId, { platform: 'desktop', userAgent: LAPTOP })
    await device.open()
    const { code } = await device.handoff()
    const told: LaunchState[] = []
    const watching = device.watch((state) => told.push(state), new AbortController().signal)
    const next = (state: string) => until(() => told.at(-1)?.state === state)
    await next('HANDOFF_WAIT')
    const phone = await createPage(stage, created.sessionId)
    await phone.open({ handoffCode: code })
    await next('OPENED')
    await phone.consent()
    await next('READY')
    const challenge = await phone.challenge()
    await next('FACE_ACTIVE')
    await send(phone, await makeSubmission(phone, challenge))
    await watching
    const role = 'viewer' as const
    assert.deepEqual(told, [
      stateBody(created, { role, state: 'HANDOFF_WAIT' }),
      stateBody(created, { role, state: 'OPENED' }),
      stateBody(created, { role, state: 'READY' }),
      stateBody(created, { role, state: 'FACE_ACTIVE', attempt: 1, attemptsLeft: 2 }),
      stateBody(created, { role, state: 'COMPLETED', flowStatus: 'COMPLETED' }),
    ])
  })

  test('is a stream of server-sent events that nothing on the way keeps', async () => {
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

  test('tells the device what it is by then, and ends for one that the session was taken from', async () => {
    const { created, page: first } = await openedPage()
    const { code } = okOf<{ code: string }>(await first.call('handoff'))
    const second = await createPage(stage, created.sessionId)
    await second.open({ handoffCode: code })
    await second.consent()
    const [forFirst, forSecond] = [await stream(first), await stream(second)]
    await sleep(700)
    okOf(await first.call('take-back'))
    assert.match(await forSecond.text(), /^event: state\ndata: \{[^\n]*"state":"READY","role":"holder"[^\n]*\n\n$/)
    let told = ''
    const reading = (async () => {
      for await (const chunk of forFirst.body ?? []) told += Buffer.from(chunk).toString()
    })()
    await until(() => told.includes('"state":"OPENED"'))
    await first.cancel()
    await reading
    const roles = [...told.matchAll(/"state":"(\w+)","role":"(\w+)"/g)].map(([, ...pair]) => pair)
    assert.deepEqual(roles, [
      ['READY', 'viewer'],
      ['OPENED', 'holder'],
      ['CANCELLED', 'viewer'],
    ])
  })

  test('breathes while nothing happens, and ends after a quarter of an hour', async () => {
    const { page } = await openedPage({ sessionExpiry: 7_200 })
    const response = await stream(page)
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
    })()
    await until(() => text.includes('event: state'))
    stage.harness.clock.advance(16_000)
    await until(() => text.endsWith(': still here\n\n'))
    stage.harness.clock.advance(900_000)
    await reading
    assert.equal(text.match(/event: state/g)?.length, 1)
  })

  test('is over for the server when the client leaves', async () => {
    const { service: launch } = stage.harness.wire.launch
    const look = launch.findState
    let looks = 0
    // Counted on the way: the service itself answers.
    launch.findState = (sessionId) => {
      looks++
      return look(sessionId)
    }
    const { page } = await openedPage()
    const leaving = new AbortController()
    const response = await stream(page, leaving.signal)
    assert.equal(response.status, 200)
    await until(() => looks >= 3)
    leaving.abort()
    await sleep(500)
    const after = looks
    await sleep(1_000)
    assert.equal(looks, after, 'nobody looks any more')
    launch.findState = look
  })

  test('has one seat for each device: a page that comes again ends its earlier stream and no other', async () => {
    const { created, page } = await openedPage()
    const { code } = okOf<{ code: string }>(await page.call('handoff'))
    const other = await createPage(stage, created.sessionId)
    await other.open({ handoffCode: code })
    const [earlier, others] = [await stream(page), await stream(other)]
    await sleep(400)
    const later = await stream(page)
    assert.equal((await earlier.text()).match(/event: state/g)?.length, 1)
    await other.cancel()
    for (const response of [later, others]) assert.match(await response.text(), /"flowStatus":"CANCELLED"/)
  })

  test('404 for no session, 400 without an id', async () => {
    const nobody = await createPage(stage, '079b6cd9-f993-81a6-95fd-62194e74386d')
    assert.equal((await stream(nobody)).status, 404)
    const without = await stage.harness.inject('/launch/api/status')
    assert.deepEqual([without.statusCode, without.json().code], [400, 'VALIDATION_FAILED'])
  })
})

describe('a browser', () => {
  const preflight = (origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' }
    return stage.harness.inject({ method: 'OPTIONS', url: '/launch/api/open', headers })
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

  test('may call nothing else from there', async () => {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' }
    const reply = await stage.harness.inject({ method: 'OPTIONS', url: '/session', headers })
    assert.equal(reply.headers['access-control-allow-origin'], undefined)
    assert.equal(reply.statusCode, 405)
  })
})

describe('too many calls', () => {
  test('of one session: 429 for the 61st in a minute, and others are not hindered', async () => {
    stage.harness.clock.advance(120_000)
    const { page } = await openedPage({ sessionExpiry: 7_200 })
    for (let sent = 1; sent < 60; sent++) assert.equal((await page.call('failure', { code: -21 })).statusCode, 200)
    const refused = await page.call('failure', { code: -21 })
    assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 1 })
    assert.equal(refused.headers['retry-after'], '1')
    await openedPage()
    stage.harness.clock.advance(1_000)
    assert.equal((await page.call('failure', { code: -21 })).statusCode, 200)
  })

  test('of one address: 429 for the 301st in a minute, whatever the session, and not for another address', async () => {
    stage.harness.clock.advance(120_000)
    const from = (remoteAddress: string, index: number) =>
      stage.harness.inject({
        method: 'POST',
        url: '/launch/api/cancel',
        remoteAddress,
        payload: { sessionId: `079b6cd9-f993-81a6-95fd-${String(index).padStart(12, '0')}` },
      })
    for (let sent = 0; sent < 300; sent++) assert.equal((await from('198.51.100.7', sent)).statusCode, 404)
    assert.equal((await from('198.51.100.7', 300)).statusCode, 429)
    assert.equal((await from('198.51.100.8', 301)).statusCode, 404)
    stage.harness.clock.advance(200)
    assert.equal((await from('198.51.100.7', 302)).statusCode, 404)
    assert.equal((await from('198.51.100.7', 303)).statusCode, 429)
  })
})

test('a process that is to end does not wait for those who watch', async () => {
  const { page } = await openedPage()
  const response = await stream(page)
  assert.equal(response.status, 200)
  const ranMs = startStopwatch()
  await Promise.all([closeGently(stage.harness.app), response.text()])
  assert.ok(ranMs() < 5_000)
})
