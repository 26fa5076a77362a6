import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { AppError } from '../platform/errors.ts'
import { createLog } from '../platform/log.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { createManualClock, type ManualClock } from '../platform/testing/manual-clock.ts'
import { startStopwatch } from '../testing/stopwatch.ts'
import { createTokenVerifier } from './jwt.ts'
import { KEYS_FRESH_MS, KEYS_STALE_MS, REFETCH_AFTER_MS, RETRY_AFTER_MS } from './key-sets.ts'
import { readSettings } from './settings.ts'
import { createIdentityProvider, createSigningKey, type IdentityProvider } from './testing/identity-provider.ts'

const TENANT = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
const NETWORK = { version: '9.9.9', allowNetworks: ['127.0.0.1/32'], allowHttp: true }

let clock: ManualClock
let provider: IdentityProvider
let lines: string[]
/** `taken`, or the code of the refusal. */
let outcomeOf: (token: string) => Promise<string>

beforeEach(async () => {
  clock = createManualClock()
  provider = await createIdentityProvider(() => Math.floor(clock.now().getTime() / 1000))
  outcomeOf = verifierWith(NETWORK)
})
afterEach(() => provider.stop())

function verifierWith(network: typeof NETWORK): (token: string) => Promise<string> {
  // Each has its own: what an earlier one still has to say is not said here.
  const own: string[] = []
  lines = own
  const log = createLog('debug', { write: (line) => void own.push(line) })
  const settings = { get: async () => readSettings({ issuers: [provider.settings] }) }
  const { verify } = createTokenVerifier({ outbound: createOutbound(network), clock, log, settings })
  return (token) =>
    verify(TENANT, `Bearer ${token}`).then(
      () => 'taken',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    )
}

test('the keys are fetched once for many tokens, also when these come at the same moment', async () => {
  const token = await provider.sign()
  assert.deepEqual(await Promise.all(Array.from({ length: 50 }, () => outcomeOf(token))), Array(50).fill('taken'))
  clock.advance(200_000)
  assert.equal(await outcomeOf(token), 'taken')
  assert.equal(provider.requests(), 1)
})

test('after ten minutes they are fetched again: a key that the issuer withdrew is refused then', async () => {
  const withdrawn = provider.key()
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  await provider.rotate()
  clock.advance(KEYS_FRESH_MS)
  assert.equal(await outcomeOf(await provider.sign({}, {}, withdrawn)), 'taken')
  assert.equal(provider.requests(), 1)
  clock.advance(1)
  assert.equal(await outcomeOf(await provider.sign({}, {}, withdrawn)), 'INVALID_TOKEN')
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  assert.equal(provider.requests(), 2)
})

test('an issuer that publishes no key any more has no valid tokens', async () => {
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  provider.publish([])
  clock.advance(KEYS_FRESH_MS + 1)
  assert.equal(await outcomeOf(await provider.sign()), 'INVALID_TOKEN')
})

test('a new key is found at once, but made-up key ids cause one call in 30 seconds', async () => {
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  clock.advance(REFETCH_AFTER_MS)
  await provider.rotate()
  const tokens = await Promise.all(Array.from({ length: 10 }, () => provider.sign()))
  assert.deepEqual(await Promise.all(tokens.map(outcomeOf)), Array(10).fill('taken'))
  assert.equal(provider.requests(), 2)
  const stranger = await createSigningKey('made-up', 'ES256')
  for (let i = 0; i < 20; i++) {
    assert.equal(await outcomeOf(await provider.sign({}, { kid: `made-up-${i}` }, stranger)), 'INVALID_TOKEN')
  }
  clock.advance(REFETCH_AFTER_MS - 1)
  assert.equal(await outcomeOf(await provider.sign({}, {}, stranger)), 'INVALID_TOKEN')
  assert.equal(provider.requests(), 2)
  clock.advance(1)
  assert.equal(await outcomeOf(await provider.sign({}, {}, stranger)), 'INVALID_TOKEN')
  assert.equal(provider.requests(), 3)
})

test('while the issuer is away its known keys are used for a day; then nothing is known and the answer is 503', async () => {
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  await provider.stop()
  for (const passed of [KEYS_FRESH_MS + 1, 3_600_000, KEYS_STALE_MS - KEYS_FRESH_MS - 1 - 3_600_000]) {
    clock.advance(passed)
    assert.equal(await outcomeOf(await provider.sign()), 'taken')
  }
  clock.advance(1)
  assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN')
  await provider.start()
  clock.advance(REFETCH_AFTER_MS)
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
})

test('while the issuer is away a key that is not known may be a new one: 503, not 401', async () => {
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  await provider.rotate()
  await provider.stop()
  clock.advance(REFETCH_AFTER_MS)
  assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN')
  await provider.start()
  assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN', 'it is not asked again so soon')
  clock.advance(REFETCH_AFTER_MS)
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
})

test('an issuer that was never reached gives 503, and is asked again every 5 seconds at most', async () => {
  provider.answerWith((_request, response) => response.writeHead(500).end())
  for (let i = 0; i < 5; i++) assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN')
  assert.equal(provider.requests(), 1)
  provider.answerWith(undefined)
  clock.advance(RETRY_AFTER_MS - 1)
  assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN')
  clock.advance(1)
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  assert.equal(provider.requests(), 2)
})

test('an answer that is no key set is as good as none', async () => {
  const keySet = JSON.stringify({ keys: [provider.key().jwk] })
  const garbage: [string, string, number, Record<string, string>][] = [
    ['nothing', '', 200, {}],
    ['no JSON', '<html>', 200, {}],
    ['null', 'null', 200, {}],
    ['a list', '[]', 200, {}],
    ['no keys', '{}', 200, {}],
    ['keys that are no list', '{"keys":{}}', 200, {}],
    ['keys that are no objects', '{"keys":[1]}', 200, {}],
    ['too many keys', JSON.stringify({ keys: Array(101).fill({ kty: 'EC' }) }), 200, {}],
    ['too many bytes', JSON.stringify({ keys: [provider.key().jwk], pad: 'x'.repeat(65_536) }), 200, {}],
    ['half an answer', keySet.slice(0, -1), 200, {}],
    ['another status', keySet, 404, {}],
    ['another status of success', keySet, 203, {}],
    ['a redirect', keySet, 302, { location: provider.settings.jwksUri }],
  ]
  for (const [what, body, status, headers] of garbage) {
    provider.answerWith((_request, response) => response.writeHead(status, headers).end(body))
    assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN', what)
    clock.advance(RETRY_AFTER_MS)
  }
  assert.equal(provider.requests(), garbage.length)
  provider.answerWith(undefined)
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  provider.answerWith((_request, response) => response.end('<html>'))
  clock.advance(KEYS_FRESH_MS + 1)
  assert.equal(await outcomeOf(await provider.sign()), 'taken', 'the keys from before the garbage')
})

test('keys that are of no use stand beside one that is, and give no token a pass', async () => {
  const { jwk } = provider.key()
  const { jwk: encryption } = await createSigningKey('encryption', 'ES256')
  provider.publish([
    { kty: 'oct', kid: 'oct', k: 'c2VjcmV0' },
    { kty: 'EC', kid: 'broken', crv: 'P-256', x: '!', y: '!' },
    { kty: 'UNHEARD-OF', kid: 'new' },
    { ...encryption, use: 'enc' },
    jwk,
  ])
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  for (const kid of ['oct', 'broken', 'new', 'encryption']) {
    assert.equal(await outcomeOf(await provider.sign({}, { kid })), 'INVALID_TOKEN', kid)
  }
})

test('an issuer that hangs is given up after 5 seconds, and from then on keeps nobody waiting who has keys', async () => {
  const waiting: { end(): void }[] = []
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  provider.answerWith((_request, response) => void waiting.push(response))
  clock.advance(KEYS_FRESH_MS + 1)
  const token = await provider.sign()
  const ranMs = startStopwatch()
  const askedAt = performance.now()
  assert.equal(await outcomeOf(token), 'taken', 'the keys from before')
  const waitedMs = performance.now() - askedAt
  assert.ok(waitedMs > 4_500, `${waitedMs} ms`)
  await figureAtMost('key-sets.given-up-ms', 7_000, ranMs())
  clock.advance(REFETCH_AFTER_MS)
  const againMs = ranMs()
  assert.equal(await outcomeOf(await provider.sign()), 'taken')
  // The next call to it is made behind the back of the request.
  await figureAtMost('key-sets.behind-the-request-ms', 1_000, ranMs() - againMs)
  await eventually(() => waiting.length === 2, 'the issuer is called again')
  assert.equal(waiting.length, 2)
  for (const response of waiting) response.end()
})

test('the guard decides where keys may come from, and the log says which host failed and no more', async () => {
  for (const network of [
    { ...NETWORK, allowNetworks: [] },
    { ...NETWORK, allowHttp: false },
  ]) {
    outcomeOf = verifierWith(network)
    assert.equal(await outcomeOf(await provider.sign()), 'DEPENDENCY_DOWN')
    const [line = '', ...more] = lines
    assert.deepEqual(more, [])
    const { level, msg, host, errorType } = JSON.parse(line)
    assert.deepEqual(
      [level, msg, host, errorType],
      [
        'warn',
        'the keys of an identity provider could not be fetched',
        new URL(provider.settings.jwksUri).host,
        'OutboundError',
      ],
    )
  }
  assert.equal(provider.requests(), 0)
})
