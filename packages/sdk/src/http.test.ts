import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { formatApiKey } from '@ostiary/crypto'
import { createClient, OstiaryError } from './index.ts'

const apiKey = formatApiKey({ livemode: false, bucket: 1 }, new Uint8Array(32).fill(7))
const DELETED = { status: 200, message: 'delete successful' }
const NO_SUCH_USER = { status: 400, message: 'delete failed' }

type Answer = 'lost' | { status: number; body: unknown; retryAfter?: string }

/** A client whose calls get the given answers one after the other, and the time of each call. */
function answering(...answers: Answer[]) {
  const calls: number[] = []
  const fetch = async (): Promise<Response> => {
    calls.push(performance.now())
    const answer = answers.shift() ?? 'lost'
    if (answer === 'lost') throw new TypeError('fetch failed')
    const { status, body, retryAfter } = answer
    const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
  }
  return { client: createClient({ baseUrl: 'https://ostiary.example', apiKey, fetch }), calls }
}

const failure = async (call: Promise<unknown>) => {
  const [outcome] = await Promise.allSettled([call])
  assert.ok(outcome.status === 'rejected' && outcome.reason instanceof OstiaryError)
  return outcome.reason
}

test('the client waits as the header Retry-After says when the body has no wait', async () => {
  const busy = { status: 429, body: { status: -1, message: 'Too many requests' }, retryAfter: '1' }
  const { client, calls } = answering(busy, { status: 200, body: DELETED })
  assert.equal(await client.node.deleteUser('a'), true)
  const [first = 0, second = 0] = calls
  assert.ok(second - first >= 990, `waited ${second - first} ms`)
})

test('an error carries the wait of the header when the body has none or is not JSON; the body’s wait wins', async () => {
  const body = { status: -1, message: 'Too many requests' }
  const errorFor = async (answer: Answer) => {
    const { client, calls } = answering(answer)
    const { retryAfterSeconds, status } = await failure(client.node.checkKey())
    return [status, retryAfterSeconds, calls.length]
  }
  assert.deepEqual(await errorFor({ status: 429, body, retryAfter: '60' }), [429, 60, 1])
  assert.deepEqual(await errorFor({ status: 503, body: '<html>Busy</html>', retryAfter: '60' }), [503, 60, 1])
  assert.deepEqual(await errorFor({ status: 429, body: { ...body, retryAfter: 30 }, retryAfter: '60' }), [429, 30, 1])
  assert.deepEqual(await errorFor({ status: 403, body, retryAfter: 'Fri, 31 Dec 2027 23:59:59 GMT' }), [
    403,
    undefined,
    1,
  ])
  assert.deepEqual(await errorFor({ status: 403, body }), [403, undefined, 1])
})

test('a user who is missing at the second attempt was deleted by the first, whose answer was lost', async () => {
  const gone = { status: 400, body: NO_SUCH_USER }
  assert.equal(await answering('lost', gone).client.node.deleteUser('a'), true)
  assert.equal(await answering({ status: 503, body: '' }, gone).client.node.deleteUser('a'), true)
  assert.equal(await answering(gone).client.node.deleteUser('a'), false)
  const refused = { status: 429, body: { status: -1, message: 'Too many requests' }, retryAfter: '0' }
  assert.equal(await answering(refused, gone).client.node.deleteUser('a'), false, 'a refused attempt deletes no user')
})

test('an envelope that could not be used is an error, also at the second attempt', async () => {
  const unusable = { status: 400, body: { status: -2, message: 'PUID could not be used' } }
  assert.equal((await failure(answering('lost', unusable).client.node.deleteUser('a'))).nodeStatus, -2)
})

test('a redirect is not followed: the key goes to no other address', async () => {
  const seen: string[] = []
  const other = createServer((request, response) => {
    seen.push(String(request.headers['x-api-key']))
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const target = `http://localhost:${(other.address() as AddressInfo).port}/`
  const service = createServer((_, response) => response.writeHead(307, { location: target }).end())
  await once(service.listen(0, '127.0.0.1'), 'listening')
  try {
    const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const client = createClient({ baseUrl, apiKey })
    await assert.rejects(client.strings.create({ value: 'y' }), { status: 307, code: 'REDIRECTED' })
    assert.deepEqual(seen, [])
  } finally {
    other.close()
    service.close()
  }
})
