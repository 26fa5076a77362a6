import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { verifyWebhook } from '@ostiary/sdk'
import { eventually } from '@ostiary/testkit/eventually'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { startApi } from './testing/running-api.ts'

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

const api = await startApi('listen')
const state = temporaryFolder('listen')
const received: Received[] = []
let status = 200
/** The receiver answers when it is over. */
let held: Promise<void> | undefined
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  received.push({ headers: request.headers, body })
  await held
  response.writeHead(status).end()
})

Object.assign(api.env, { XDG_STATE_HOME: state, HOME: state })
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
after(() => {
  receiver.close()
  receiver.closeAllConnections()
})

async function endSession(): Promise<string> {
  const { sessionId } = await api.client().age.create({ redirectUrl: 'https://shop.example/back', ageThreshold: 30 })
  const ended = await fetch(`${api.env.OSTIARY_URL}/test/sessions/${sessionId}/outcome`, {
    method: 'POST',
    headers: { 'x-api-key': api.env.OSTIARY_API_KEY ?? '', 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(ended.status, 204)
  return sessionId
}

const idsOf = (some: readonly Received[]) => some.map(({ body }) => JSON.parse(body).sessionId)

/** The command as a process of its own, and what it printed. */
function start(...args: string[]) {
  const main = new URL('./main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main, 'listen', ...args], { env: { ...process.env, ...api.env } })
  const lines = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (lines.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lines.err += text))
  return { child, lines, ended: once(child, 'exit') as Promise<[number | null, string | null]> }
}

test('every event goes to the receiver with a valid signature, and after Ctrl-C it goes on where it was', async () => {
  const stored = () => readdirSync(state, { recursive: true }).filter((name) => String(name).endsWith('.json'))
  const first = start('--forward', hook)
  await eventually(
    () => stored().length > 0,
    () => first.lines.err,
  )
  const one = await endSession()
  const event = await eventually(
    () => received[0],
    () => first.lines.err,
  )
  assert.ok(event)
  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = event.headers
  const signed = { apiKey: api.env.OSTIARY_API_KEY ?? '', body: event.body }
  assert.ok(await verifyWebhook({ ...signed, timestamp: String(timestamp), signature: String(signature) }))
  await eventually(() => first.lines.out.includes(one))
  assert.match(
    first.lines.out,
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}age\\.session\\.completed +${one} {2}200 {2}\\d+ ms\n$`),
  )
  first.child.kill('SIGINT')
  assert.deepEqual(await first.ended, [0, null])
  const two = await endSession()
  const second = await api.run(['listen', '--forward', hook, '--count', '1', '--json'])
  assert.equal(second.code, 0, second.err)
  assert.deepEqual(idsOf(received), [one, two])
  const line = JSON.parse(second.out)
  assert.deepEqual([line.sessionId, line.forwarded.status, line.body], [two, 200, undefined])
  for (const name of stored())
    assert.ok(!readFileSync(join(state, String(name)), 'utf8').includes('ost_'), 'no key is stored')
})

test('a receiver that refuses gets the event again until it accepts, and the person sees why', async () => {
  received.length = 0
  status = 500
  const listening = start('--forward', hook)
  const sessionId = await endSession()
  await eventually(
    () => received.length >= 2,
    () => listening.lines.err,
  )
  status = 200
  await eventually(() => listening.lines.out.includes(sessionId))
  listening.child.kill('SIGTERM')
  await listening.ended
  assert.match(listening.lines.err, /answered 500: age\.session\.completed is sent again until it is accepted/)
  assert.equal(new Set(received.map(({ headers }) => headers['x-service-delivery'])).size, 1)
})

test('killed while the receiver holds an event, it sends that one again under the same delivery id, and no other', async () => {
  received.length = 0
  const first = start('--forward', hook)
  const one = await endSession()
  await eventually(
    () => first.lines.out.includes(one),
    () => first.lines.err,
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  held = promise
  const two = await endSession()
  await eventually(() => received.length === 2)
  first.child.kill('SIGKILL')
  await first.ended
  held = undefined
  resolve()
  // What a listener that had passed over the event would send next.
  await endSession()
  const second = await api.run(['listen', '--forward', hook, '--count', '1'])
  assert.equal(second.code, 0, second.err)
  assert.deepEqual(idsOf(received), [one, two, two])
  const deliveries = received.map(({ headers }) => headers['x-service-delivery'])
  assert.equal(deliveries[1], deliveries[2])
})

test('without --forward it shows events, by name, with bodies; a wrong line says what is wrong', async () => {
  const sessionId = await endSession()
  const shown = await api.run(['listen', '--from', 'start', '--count', '1', '--print', '--json'])
  assert.equal(shown.code, 0, shown.err)
  assert.ok(JSON.parse(shown.out).body.includes('"flowStatus"'))
  assert.ok(sessionId.length > 0)
  for (const [args, reason] of [
    [['--forward', 'https://shop.example/hook'], /say --allow-remote/],
    [['--events', 'age.session.begun'], /There is no event "age.session.begun"/],
    [['--forward', hook, '--header', 'nonsense'], /--header must be/],
    [['--count', 'many'], /--count must be a whole number/],
  ] as const) {
    const ran = await api.run(['listen', ...args])
    assert.equal(ran.code, 2, ran.out)
    assert.match(ran.err, reason)
  }
  const live = await api.run(['listen', '--key', api.liveKey])
  assert.equal(live.code, 1)
  assert.match(live.err, /for test keys here/)
})
