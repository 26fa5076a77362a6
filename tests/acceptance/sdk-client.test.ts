/** The SDK's client against a running API: behind a proxy that loses answers, and with what the API warns of. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { createClient, type RetryEvent } from '@ostiary/sdk'
import { setting } from '@ostiary/testkit/setting'

const baseUrl = setting('OSTIARY_URL')
const apiKey = setting('OSTIARY_TEST_KEY_ONE')
const BODY = {
  redirectUrl: 'https://shop.example/back',
  ageThreshold: 30,
  stepUpEnabled: true,
  documentAgeThreshold: 18,
}

/** A proxy whose first answer to each creation is lost: the API has it, the client gets the fault. */
const faults = new Map<string, number | 'reset'>()
const proxy = createServer(async (request, response) => {
  const { host: _, connection: __, ...headers } = request.headers
  const body = await buffer(request)
  const answer = await fetch(`${baseUrl}${request.url}`, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body }),
  })
  const text = await answer.text()
  const key = String(request.headers['idempotency-key'])
  const fault = faults.get(key)
  faults.delete(key)
  if (fault === 'reset') return request.socket.resetAndDestroy()
  if (fault !== undefined) return response.writeHead(fault, { 'content-type': 'text/html' }).end('<html>Busy</html>')
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
})
proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')
after(() => proxy.close())
const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`

for (const fault of [408, 429, 500, 502, 503, 504, 'reset'] as const) {
  test(`an answer that is lost as ${fault} leaves one session, which the client gets`, async () => {
    const retries: RetryEvent[] = []
    const flaky = createClient({ baseUrl: proxyUrl, apiKey, onRetry: (event) => void retries.push(event) })
    const [run, idempotencyKey] = [randomUUID(), randomUUID()]
    faults.set(idempotencyKey, fault)
    const created = await flaky.age.create({ ...BODY, metadata: { run } }, { idempotencyKey })
    assert.deepEqual(
      retries.map(({ operation, attempt, error }) => [operation, attempt, error.status]),
      [['createSession', 1, fault === 'reset' ? 0 : fault]],
    )
    const made: string[] = []
    for await (const { sessionId } of createClient({ baseUrl, apiKey }).age.all({ metadata: { run } }))
      made.push(sessionId)
    assert.deepEqual(made, [created.sessionId])
  })
}

test('the warning about an estimate without a buffer is in the result, goes to the program and to the log', async () => {
  const [lines, codes]: [string[], string[]] = [[], []]
  const logger = { warn: (line: string) => void lines.push(line) }
  const ostiary = createClient({ baseUrl, apiKey, logger, onWarning: ({ code }) => void codes.push(code) })
  const { warnings } = await ostiary.age.create({ ...BODY, ageThreshold: 18, stepUpEnabled: false })
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['estimate-without-buffer'],
  )
  assert.deepEqual(codes, ['estimate-without-buffer'])
  assert.match(lines.join('\n'), /^ostiary: createSession: estimate-without-buffer: /)
  assert.deepEqual((await ostiary.age.create(BODY)).warnings, [])
})

test('test mode of the client ends sessions', async () => {
  const ostiary = createClient({ baseUrl, apiKey })
  const first = await ostiary.age.create(BODY)
  await ostiary.test.outcome(first.sessionId, { outcome: 'AGE_BELOW_THRESHOLD' })
  const ended = await ostiary.age.waitForResult(first.token, { timeoutMs: 5_000 })
  assert.deepEqual([ended.flowStatus, ended.sessionStatus], ['COMPLETED', 'AGE_BELOW_THRESHOLD'])
  const { items, default: fallback } = await ostiary.locales()
  assert.ok(items.some(({ tag }) => tag === fallback))
})
