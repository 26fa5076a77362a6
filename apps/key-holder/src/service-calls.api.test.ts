import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { KEY_HOLDER_LIMITS, KEY_HOLDER_PATHS } from '@ostiary/contract'
import {
  BODY_HASH_HEADER,
  bodyHash,
  readServiceKey,
  SERVICE_SIGNATURE_HEADER,
  signServiceRequest,
} from '@ostiary/crypto'
import { createCaller, newSeed } from './testing/caller.ts'
import { newId } from './testing/device.ts'
import { createHarness } from './testing/harness.ts'
import { SECOND_MS } from './testing/manual-clock.ts'

const [first, second] = [newSeed(), newSeed()]
const publicKeyOf = async (seed: Uint8Array) => (await readServiceKey(seed)).publicKey
const keys = await Promise.all([first, second].map(publicKeyOf))
const harness = await createHarness({ env: { MATCHER_KEYS: `${keys[0]} # old\n${keys[1]}` } })
after(() => harness.close())

const callerOf = (seed: Uint8Array) =>
  createCaller({
    send: harness.send,
    seed,
    published: harness.keys.published,
    nowMs: () => harness.clock.now().getTime(),
  })
const body = () => ({ realm: newId(), tokenId: newId() })

describe('a request', () => {
  test('of each configured caller is answered with a signed reply; of another key with 401 and no signature', async () => {
    for (const seed of [first, second]) {
      const { status, isSigned, content } = await (await callerOf(seed)).call('POST', KEY_HOLDER_PATHS.nonces, body())
      assert.deepEqual([status, isSigned], [200, true])
      assert.match(String(content.nonce), /^[\w-]{43}$/)
    }
    const { status, isSigned, content } = await (await callerOf(newSeed())).call('GET', KEY_HOLDER_PATHS.key)
    assert.deepEqual([status, isSigned, content], [401, false, { message: 'The signature is not valid' }])
  })

  test('without a signature is refused on every path', async () => {
    for (const path of Object.values(KEY_HOLDER_PATHS)) {
      const method = path === KEY_HOLDER_PATHS.key ? 'GET' : 'POST'
      const { status, body: sent } = await harness.send({ method, path, headers: {}, body: Buffer.from('{}') })
      assert.deepEqual([status, Buffer.from(sent).toString()], [401, '{"message":"The request is not signed"}'], path)
    }
  })

  test('signed for another path, method or body is refused', async () => {
    const { privateKey } = await readServiceKey(first)
    const caller = await callerOf(first)
    const [path, sent] = [KEY_HOLDER_PATHS.erasures, body()]
    const bytes = Buffer.from(JSON.stringify(sent))
    for (const change of [{ path: KEY_HOLDER_PATHS.nonces }, { method: 'GET' }, { body: Buffer.from('{}') }]) {
      const request = { method: 'POST', path, body: bytes, ...change }
      const at = { requestId: newId(), timeMs: harness.clock.now().getTime() }
      const header = await signServiceRequest(privateKey, request, at)
      assert.equal((await caller.call('POST', path, sent, { header })).status, 401, JSON.stringify(change))
    }
  })

  test('[U6] is refused before its body is read when it is unsigned, of another time, or signed by a stranger', async () => {
    await harness.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = harness.app.server.address() as AddressInfo
    const path = KEY_HOLDER_PATHS.evaluations
    const timeMs = harness.clock.now().getTime()
    const signedAt = async (time: number) => {
      const { privateKey } = await readServiceKey(newSeed())
      const request = { method: 'POST', path, body: Buffer.from('never sent') }
      return signServiceRequest(privateKey, request, { requestId: newId(), timeMs: time })
    }
    const hash = await bodyHash(Buffer.from('never sent'))
    for (const [why, headers] of [
      ['The request is not signed', {}],
      ['The request is not signed', { [SERVICE_SIGNATURE_HEADER]: 'x.y.z' }],
      [
        'The request is too old, or the clocks differ',
        { [SERVICE_SIGNATURE_HEADER]: await signedAt(timeMs - 300_000) },
      ],
      ['The signature is not valid', { [SERVICE_SIGNATURE_HEADER]: await signedAt(timeMs), [BODY_HASH_HEADER]: hash }],
    ] as const) {
      const socket = connect(port, '127.0.0.1')
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: k\r\ncontent-length: 2000000\r\n${lines.join('')}\r\nthe first bytes`,
      )
      let answer = ''
      for await (const bytes of socket.setEncoding('utf8')) answer += bytes
      assert.match(answer, /^HTTP\/1\.1 401 /)
      assert.ok(answer.endsWith(JSON.stringify({ message: why })), answer)
    }
  })

  test('[U6] without the hash of its body, as the last release sends it, is accepted; of a body that is another it is refused', async () => {
    const caller = await callerOf(first)
    const statusOf = async (hash: string | null) =>
      (await caller.call('POST', KEY_HOLDER_PATHS.nonces, body(), { hash })).status
    assert.equal(await statusOf(null), 200)
    assert.equal(await statusOf(await bodyHash(Buffer.from('another'))), 401)
    const bytes = Buffer.from(JSON.stringify(body()))
    const { status } = await caller.call(
      'POST',
      KEY_HOLDER_PATHS.nonces,
      Buffer.concat([bytes, Buffer.alloc(KEY_HOLDER_LIMITS.jsonBytes)]),
    )
    assert.equal(status, 413)
  })

  test('is accepted once: the same again is 409, signed, and does nothing', async () => {
    const caller = await callerOf(first)
    const requestId = newId()
    const once = await caller.call('POST', KEY_HOLDER_PATHS.nonces, body(), { requestId })
    assert.equal(once.status, 200)
    const { rows: before } = await harness.query('select count(*) from nonces')
    const again = await caller.call('POST', KEY_HOLDER_PATHS.nonces, body(), { requestId })
    assert.deepEqual([again.status, again.isSigned], [409, true])
    assert.deepEqual((await harness.query('select count(*) from nonces')).rows, before)
  })

  test('of ten at once with one id, one is accepted', async () => {
    const caller = await callerOf(first)
    const [requestId, sent] = [newId(), body()]
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => caller.call('POST', KEY_HOLDER_PATHS.nonces, sent, { requestId })),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  })

  test('is refused outside the time window, and its id is remembered as long as the window lasts', async () => {
    const caller = await callerOf(first)
    const windowMs = KEY_HOLDER_LIMITS.requestSeconds * SECOND_MS
    const nowMs = harness.clock.now().getTime()
    const statusAt = async (timeMs: number, requestId = newId()) =>
      (await caller.call('POST', KEY_HOLDER_PATHS.nonces, body(), { requestId, timeMs })).status
    assert.equal(await statusAt(nowMs - windowMs), 200)
    assert.equal(await statusAt(nowMs - windowMs - 1), 401)
    assert.equal(await statusAt(nowMs + windowMs + 1), 401)
    const early = newId()
    assert.equal(await statusAt(nowMs + windowMs, early), 200)
    harness.clock.advance(2 * windowMs)
    await harness.purge()
    assert.equal(await statusAt(nowMs + windowMs, early), 409, 'it could be sent again')
    harness.clock.advance(1)
    await harness.purge()
    assert.equal(await statusAt(nowMs + windowMs, early), 401)
    await harness.purge()
  })

  test('an unsigned request uses up no id of a caller', async () => {
    const requestId = newId()
    const stranger = await callerOf(newSeed())
    assert.equal((await stranger.call('POST', KEY_HOLDER_PATHS.nonces, body(), { requestId })).status, 401)
    const caller = await callerOf(first)
    assert.equal((await caller.call('POST', KEY_HOLDER_PATHS.nonces, body(), { requestId })).status, 200)
  })

  test('with a body that is malformed is 400, with one that is too large 413, elsewhere 404', async () => {
    const caller = await callerOf(first)
    for (const [path, sent] of [
      [KEY_HOLDER_PATHS.nonces, Buffer.from('{')],
      [KEY_HOLDER_PATHS.nonces, { realm: newId() }],
      [KEY_HOLDER_PATHS.nonces, { ...body(), more: 1 }],
      [KEY_HOLDER_PATHS.erasures, { realm: newId() }],
      [KEY_HOLDER_PATHS.erasures, { ...body(), account: newId() }],
      [KEY_HOLDER_PATHS.confirmations, { realm: 'x', tokenId: newId() }],
      [KEY_HOLDER_PATHS.enrolments, Buffer.from('no frame')],
      [KEY_HOLDER_PATHS.evaluations, body()],
    ] as const) {
      const { status, isSigned } = await caller.call('POST', path, sent)
      assert.deepEqual([status, isSigned], [400, true], path)
    }
    const large = Buffer.alloc(KEY_HOLDER_LIMITS.bodyBytes + 1)
    assert.equal((await caller.call('POST', KEY_HOLDER_PATHS.evaluations, large)).status, 413)
    assert.equal((await caller.call('GET', '/v1/shares')).status, 404)
  })
})

test('the key that is published has the fingerprint of its seal key', async () => {
  const { content } = await (await callerOf(first)).call('GET', KEY_HOLDER_PATHS.key)
  assert.deepEqual(content, harness.keys.published)
})

test('with the database away the answer is 503, signed, and an unexpected error is 500 without its text', async () => {
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const { hostname, port } = new URL(process.env.OSTIARY_TEST_CLUSTER ?? '')
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}))
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const broken = await createHarness({ through: (url) => Object.assign(new URL(url), { port: String(port) }).href })
  const ask = async () => {
    const { status, isSigned, content } = await broken.caller.call('POST', KEY_HOLDER_PATHS.nonces, body())
    return [status, isSigned, content.message]
  }
  await broken.query('alter table nonces rename to nonces_away')
  assert.deepEqual(await ask(), [500, true, 'Internal error'])
  proxy.close()
  for (const socket of sockets) socket.destroy()
  assert.deepEqual(await ask(), [503, true, 'Try again later'])
  assert.match(broken.logged(), /database unreachable/)
  await broken.close()
})
