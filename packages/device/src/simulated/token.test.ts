import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CapturePayload,
  type Challenge,
  launchTokenBegin,
  launchTokenEnrol,
  launchTokenProbe,
  type OpenedSession,
  TOKEN_SIZES,
  type TokenBegun,
} from '@ostiary/contract'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { createSealKeyPair, encodeBytes, openPayload, thumbprint } from '@ostiary/crypto'
import Value from 'typebox/value'
import { createDevice } from '../device.ts'
import { createSimulatedClock, createTokenKeeper, runFlow, seededRandom, type TokenFunctions } from './index.ts'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'
const REALM = 'AwMDAwMDAwMDAwMDAwMDAw'
const TOKEN = 'AQEBAQEBAQEBAQEBAQEBAQ'
const VECTOR = Float32Array.from({ length: 512 }, (_, at) => Math.cos(at))
const seal = await createSealKeyPair()
const keyHolder = await createSealKeyPair()
const publicKey = new Uint8Array(TOKEN_SIZES.publicKey).fill(2)

/** Bytes of the right sizes: the service of these tests computes nothing. */
const functions: TokenFunctions = {
  createToken: async () => ({
    token: new Uint8Array(TOKEN_SIZES.token).fill(1),
    publicKey,
    matcherShare: new Uint8Array(TOKEN_SIZES.matcherShare).fill(3),
    keyShare: new Uint8Array(TOKEN_SIZES.keyShare).fill(4),
  }),
  createProbe: async () => new Uint8Array(TOKEN_SIZES.probe).fill(5),
}
const tokens = () => ({ functions, keeper: createTokenKeeper() })

type Answer = { status: number; code: string }
interface ServiceOptions {
  type?: OpenedSession['type']
  templates?: 'token' | 'token_on_device'
  bound?: boolean
  /** What the service says is the token's public key. */
  sends?: Uint8Array
  answers?: Record<string, Answer>
  /** The state after a reported failure. */
  afterFailure?: object
}

/** A service that takes everything, and what it was sent. */
function service({
  type = 'ENROLL',
  templates = 'token',
  bound = true,
  sends = publicKey,
  answers = {},
  afterFailure = { state: 'FAILED', flowStatus: 'COMPLETED' },
}: ServiceOptions) {
  const calls: { path: string; body: Record<string, unknown> }[] = []
  const facts = { realm: REALM, version: 'FACE3_3', sendImages: false, estimateAge: false, matching: 'server' }
  const base = { sessionId: SESSION, role: 'holder', attempt: 1, attemptsLeft: 2, flowStatus: null, errors: [] }
  const opened = {
    ...{ ...base, state: 'OPENED', type, verification: { ...facts, templates }, requirements: ['face'] },
    ...{ locale: 'en', sealKey: seal.publicJwk },
  }
  const challenge: Challenge = { nonce: 'n-1', attempt: 1, steps: [], sampleAtMs: [200, 800, 1200], expiresAt: '' }
  const begun: TokenBegun = {
    ...{ tokenId: TOKEN, account: 'AgICAgICAgICAgICAgICAg', realm: REALM },
    ...{ matcherNonce: 'M'.repeat(43), keyHolderNonce: 'K'.repeat(43), keyHolderKey: keyHolder.publicJwk },
    publicKey: type === 'ENROLL' ? null : encodeBytes(sends),
    wantsToken: templates === 'token_on_device',
  }
  const ended = { ...base, state: 'SUCCESS', flowStatus: 'COMPLETED', ...(type === 'ENROLL' && { tokenBound: bound }) }
  const replies: Record<string, object> = {
    [LAUNCH_PATHS.open]: opened,
    [LAUNCH_PATHS.challenge]: challenge,
    [LAUNCH_PATHS.tokenBegin]: begun,
    [LAUNCH_PATHS.tokenEnrol]: {
      tokenId: TOKEN,
      sealedToken: templates === 'token_on_device' ? encodeBytes(new Uint8Array(11_400)) : null,
    },
    [LAUNCH_PATHS.tokenProbe]: { tokenId: TOKEN },
    [LAUNCH_PATHS.submit]: ended,
    [LAUNCH_PATHS.failure]: { ...base, ...afterFailure },
  }
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const path = new URL(String(url)).pathname
    const body = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>))
    calls.push({ path: path.replace('/launch/api/', ''), body })
    const refused = answers[path]
    if (refused) return Response.json({ code: refused.code, message: '' }, { status: refused.status })
    return Response.json(replies[path] ?? { ...base, state: 'CONSENTED' })
  }
  const sentTo = (path: string) => calls.filter((call) => call.path === path).map(({ body }) => body)
  const payload = () =>
    openPayload(seal.privateJwk, String(sentTo('submit')[0]?.sealed), {
      ...{ sessionId: SESSION, maxBytes: 100_000, maxInflatedBytes: 100_000 },
    })
  return { fetch, sentTo, payload, paths: () => calls.map(({ path }) => path).filter((path) => path !== 'events') }
}

async function play(made: ReturnType<typeof service>, person: { tokens?: ReturnType<typeof tokens> }) {
  const clock = createSimulatedClock({ nowMs: () => 1_794_700_800_123, monotonicMs: () => 0 })
  const device = await createDevice({
    ...{ baseUrl: 'http://127.0.0.1:1', sessionId: SESSION, platform: 'mobile', clock, fetch: made.fetch },
  })
  const steps: string[] = []
  const state = await runFlow(device, {
    ...{ clock, random: seededRandom(3), ageYears: null, vector: VECTOR, onStep: (step) => steps.push(step) },
    ...person,
  })
  return { state, steps }
}

test('an ENROLL sends a token and a probe before the submit, and no vector anywhere', async () => {
  const person = { tokens: tokens() }
  const made = service({})
  const { steps } = await play(made, person)
  assert.deepEqual(made.paths(), ['open', 'consent', 'challenge', 'token/begin', 'token/enrol', 'submit'])
  assert.deepEqual([...Value.Errors(launchTokenBegin.body, made.sentTo('token/begin')[0])], [])
  assert.deepEqual([...Value.Errors(launchTokenEnrol.body, made.sentTo('token/enrol')[0])], [])
  const payload = await made.payload()
  assert.ok(Value.Check(CapturePayload, payload))
  assert.equal(payload.face, undefined)
  assert.equal(payload.token?.id, TOKEN)
  assert.equal((await person.tokens.keeper.find(REALM))?.tokenId, TOKEN)
  assert.ok(steps.some((step) => /^sends a token \(11316 bytes\).*instead of a vector/.test(step)))
})

test('a token that the service did not bind is not kept', async () => {
  const person = { tokens: tokens() }
  await play(service({ bound: false }), person)
  assert.equal(await person.tokens.keeper.find(REALM), undefined)
})

test('a later SIGN-IN names the kept token with a proof and sends a probe, with the sealed token where it is kept here', async () => {
  for (const templates of ['token', 'token_on_device'] as const) {
    const person = { tokens: tokens() }
    await play(service({ templates }), person)
    const made = service({ type: 'SIGN-IN', templates })
    await play(made, person)
    assert.deepEqual(made.paths().slice(2), ['challenge', 'token/begin', 'token/probe', 'submit'])
    const [begin, probe] = [made.sentTo('token/begin')[0], made.sentTo('token/probe')[0]]
    assert.deepEqual([...Value.Errors(launchTokenBegin.body, begin)], [])
    assert.equal(begin?.tokenId, TOKEN)
    assert.deepEqual([...Value.Errors(launchTokenProbe.body, probe)], [])
    assert.equal(probe?.sealedToken !== undefined, templates === 'token_on_device')
    const payload = await made.payload()
    assert.ok(Value.Check(CapturePayload, payload) && payload.face === undefined && payload.token?.id === TOKEN)
  }
})

const REFUSED: [string, Answer, object][] = [
  [LAUNCH_PATHS.tokenBegin, { status: 404, code: 'NO_TOKEN' }, { code: -36, reason: 'no_hint' }],
  [LAUNCH_PATHS.tokenBegin, { status: 503, code: 'KEY_HOLDER_UNAVAILABLE' }, { code: -100, reason: 'key_holder' }],
  [LAUNCH_PATHS.tokenEnrol, { status: 409, code: 'TOKEN_REFUSED' }, { code: -22, reason: 'token_refused' }],
]
for (const [path, answer, report] of REFUSED) {
  test(`${answer.code} is reported as ${JSON.stringify(report)}, and nothing is submitted`, async () => {
    const made = service({ answers: { [path]: answer } })
    await play(made, { tokens: tokens() })
    const [{ code, reason } = {}] = made.sentTo('failure')
    assert.deepEqual({ code, reason }, report)
    assert.deepEqual(made.sentTo('submit'), [])
  })
}

test('after a third refused token the device asks for another challenge, so that the service ends the session', async () => {
  const made = service({
    answers: { [LAUNCH_PATHS.tokenEnrol]: { status: 409, code: 'TOKEN_REFUSED' } },
    afterFailure: { state: 'FACE_ACTIVE', flowStatus: null, attemptsLeft: 0 },
  })
  await play(made, { tokens: tokens() })
  assert.deepEqual(made.paths().slice(-3), ['failure', 'challenge', 'open'])
})

test('a key holder that is not the expected one gets nothing', async () => {
  const other = await thumbprint((await createSealKeyPair()).publicJwk)
  const made = service({})
  await play(made, { tokens: { ...tokens(), fingerprints: [other] } as ReturnType<typeof tokens> })
  assert.deepEqual(made.paths().slice(2), ['challenge', 'token/begin', 'failure'])
  const [{ code, reason } = {}] = made.sentTo('failure')
  assert.deepEqual([code, reason], [-100, 'key_holder_pin'])
})

test('a service that sends a public key of its own gets no probe: it could decrypt one', async () => {
  const person = { tokens: tokens() }
  await play(service({}), person)
  const made = service({ type: 'SIGN-IN', sends: new Uint8Array(TOKEN_SIZES.publicKey).fill(9) })
  await play(made, person)
  assert.deepEqual(made.paths().slice(2), ['challenge', 'token/begin', 'failure'])
  const [{ code, reason } = {}] = made.sentTo('failure')
  assert.deepEqual([code, reason], [-100, 'token_key'])
})

test('a person without the token functions cannot take part, and nothing is sent instead', async () => {
  const made = service({})
  await assert.rejects(play(made, {}), /stores tokens/)
  assert.deepEqual(made.sentTo('submit'), [])
})
