import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CapturePayload, SESSION_CODES } from '@ostiary/contract'
import { createSealKeyPair, encodeBytes, openAtKeyHolder, thumbprint } from '@ostiary/crypto'
import { createToken } from '@ostiary/token'
import Value from 'typebox/value'
import { ended, SESSION_ID, SUCCESSOR_ID } from '../flow/testing/service.ts'
import { faceOf, storageWith } from '../local-token/testing/faces.ts'
import { createVerificationFixture, type VerificationFixtureOptions } from '../verification/testing/fixture.ts'
import type { TokenApis } from './claims.ts'
import {
  createWorkers,
  enrolled,
  keyHolder,
  PIN,
  publicKey,
  recordsOf,
  recordsWith,
  TOKEN_ID,
  tokensWith,
} from './testing/tokens.ts'

const SUCCESS = { ...ended('COMPLETED'), state: 'SUCCESS' }

interface Options extends Omit<VerificationFixtureOptions, 'apis'> {
  apis?: Partial<TokenApis>
}

/** A session of a tenant that keeps tokens, in a browser with these records. */
async function fixture({ apis = {}, facts, ...options }: Options = {}) {
  const records = recordsWith()
  const workers = createWorkers()
  const made = await createVerificationFixture({
    ...options,
    facts: { templates: 'token', ...facts },
    apis: { createTokens: tokensWith({ records, startWorker: workers.start, ...apis }) },
  })
  const { service } = made
  service.answerTokens({ keyHolderKey: keyHolder.publicJwk, ...(options.type !== 'ENROLL' && { publicKey }) })
  const sent = () => service.paths().filter((path) => path.startsWith('token/') || path === 'submit')
  const reported = () => service.bodies('failure').map(({ code, reason }) => [code, reason])
  const payloads = async () => (await service.opened()) as CapturePayload[]
  return { ...made, records, workers, sent, reported, payloads }
}

test('ENROLL sends a token and a probe, then a capture without a vector, and keeps the key when the service has bound it', async () => {
  const { capture, until, sent, payloads, records, service } = await fixture({ type: 'ENROLL' })
  await capture()
  await until(() => records.kept.size === 1)
  assert.deepEqual(sent(), ['token/begin', 'token/enrol', 'submit'])
  const [payload] = await payloads()
  assert.equal(payload?.face, undefined)
  assert.equal(payload?.token?.id, TOKEN_ID)
  assert.ok(payload?.local && 'key' in payload.local, 'the local token stays beside it')
  const kept = records.kept.get('shop')
  assert.deepEqual([kept?.tokenId, kept?.keys.privateKey.extractable], [TOKEN_ID, false])
  assert.equal(records.aside.size, 0)
  const [enrolment] = service.bodies('token/enrol')
  const { bytes } = await openAtKeyHolder(keyHolder.privateJwk, enrolment?.sealed ?? '', 400_000)
  assert.equal(bytes.length, enrolled.keyShare.length)
})

test('a token that the service has not bound is not kept, and the older one stays', async () => {
  for (const answer of [{ ...SUCCESS, tokenBound: false }, SUCCESS, { ...ended('COMPLETED', [1]), state: 'FAILED' }]) {
    const records = await recordsOf()
    const old = records.kept.get('shop')
    const made = await fixture({ type: 'ENROLL', apis: { records }, answers: { submit: [answer] } })
    await made.capture()
    await made.until(() => made.seen.left.length === 1)
    assert.equal(records.kept.get('shop'), old)
    assert.equal(records.aside.size, 0)
  }
})

/** The public key of somebody else's token, under the same id. */
const foreignKey = async () => encodeBytes((await createToken(new Uint8Array(16).fill(1), faceOf(9))).publicKey)

test('a probe is made only under the public key of the enrolment, and the service that names another gets nothing', async () => {
  const named = [{ publicKey: await foreignKey() }, { publicKey: null }, { realm: 'bank' }, { tokenId: 'B'.repeat(22) }]
  for (const answer of named) {
    const workers = createWorkers()
    const made = await fixture({
      apis: { records: await recordsOf(), startWorker: workers.start },
      answers: { failure: [ended('COMPLETED', [-100])] },
    })
    made.service.answerTokens(answer)
    await made.capture()
    await made.reaches('ended')
    assert.deepEqual([made.sent(), workers.seen.started], [['token/begin'], 0])
    assert.deepEqual(made.reported(), [[SESSION_CODES.INTERNAL.code, 'token_key']])
  }
})

test('`token_on_device`: the sealed token is kept with the key, and sent with the probe', async () => {
  const enrolling = await fixture({ type: 'ENROLL', facts: { templates: 'token_on_device' } })
  enrolling.service.answerTokens({ sealedToken: 'c2VhbGVk', wantsToken: true })
  await enrolling.capture()
  const { records } = enrolling
  await enrolling.until(() => records.kept.size === 1)
  assert.equal(records.kept.get('shop')?.sealedToken, 'c2VhbGVk')
  const signingIn = await fixture({ facts: { templates: 'token_on_device' }, apis: { records } })
  const { publicKey: named } = enrolling.service.bodies('token/enrol')[0] ?? {}
  signingIn.service.answerTokens({ wantsToken: true, publicKey: named ?? null })
  await signingIn.capture()
  await signingIn.reaches('done')
  assert.equal(signingIn.service.bodies('token/probe')[0]?.sealedToken, 'c2VhbGVk')
})

for (const type of ['SIGN-IN', 'VERIFY'] as const) {
  test(`${type} proves that it holds the key, sends a probe, then a capture without a vector`, async () => {
    const records = await recordsOf()
    const { capture, reaches, sent, payloads, service } = await fixture({ type, apis: { records } })
    await capture()
    await reaches('done')
    assert.deepEqual(sent(), ['token/begin', 'token/probe', 'submit'])
    const [begin] = service.bodies('token/begin')
    assert.equal(begin?.tokenId, TOKEN_ID)
    assert.match(begin?.proof ?? '', /^[A-Za-z0-9_-]{86}$/)
    const [payload] = await payloads()
    assert.equal(payload?.face, undefined)
    assert.ok(Value.Check(CapturePayload.properties.token, payload?.token) && payload?.token?.id === TOKEN_ID)
    assert.equal(records.kept.size, 1)
  })
}

test('the vector goes to a worker that is ended after each job, and every copy is wiped', async () => {
  for (const type of ['ENROLL', 'SIGN-IN'] as const) {
    const workers = createWorkers()
    const records = await recordsOf()
    const made = await fixture({ type, apis: { records, startWorker: workers.start } })
    await made.capture()
    await made.reaches('done')
    assert.deepEqual([workers.seen.started, workers.seen.ended], [1, 1])
    const copies = [...made.given, ...workers.seen.vectors]
    assert.ok(copies.length === 2 && copies.every((vector) => vector.every((value) => value === 0)))
  }
})

test('a key holder that the build does not know gets nothing, and the session ends with the reason', async () => {
  const other = await thumbprint((await createSealKeyPair()).publicJwk)
  const workers = createWorkers()
  const made = await fixture({
    type: 'ENROLL',
    apis: { fingerprints: [other], startWorker: workers.start },
    answers: { failure: [ended('COMPLETED', [-100])] },
  })
  await made.capture()
  await made.reaches('ended')
  assert.deepEqual(made.sent(), ['token/begin'])
  assert.equal(workers.seen.started, 0)
  assert.deepEqual(made.reported(), [[SESSION_CODES.INTERNAL.code, 'key_holder_pin']])
  assert.equal(made.flow.view().endReason, 'key_holder_pin')
  assert.ok(!made.seen.screens.includes('retry'))
})

test('during a rotation either of two pins is enough', async () => {
  const made = await fixture({ apis: { fingerprints: ['x'.repeat(43), PIN], records: await recordsOf() } })
  await made.capture()
  await made.reaches('done')
})

const OBSTACLES: [string, Options, [number, string]][] = [
  ['a browser without the key of a token', {}, [-36, 'no_hint']],
  ['a page that was built without a pin', { apis: { fingerprints: [] } }, [-100, 'key_holder_pin']],
  [
    'an ENROLL in a browser that refuses storage',
    { type: 'ENROLL', apis: { records: recordsWith(new Map(), { refuses: true }) } },
    [-100, 'token_storage'],
  ],
]
for (const [what, options, report] of OBSTACLES) {
  test(`${what} ends the session before the camera starts: ${report.join(' ')}`, async () => {
    const made = await fixture({ ...options, answers: { failure: [ended('COMPLETED', [report[0]])] } })
    await made.capture()
    await made.reaches('ended')
    assert.deepEqual(made.reported(), [report])
    assert.equal(made.seen.cameras, 0)
    assert.deepEqual(made.sent(), [])
    assert.equal(made.flow.view().endReason, report[1])
  })
}

test('a token that the service does not find for this session ends it, and the key stays for other sessions', async () => {
  const records = await recordsOf()
  const made = await fixture({
    apis: { records },
    answers: { 'token/begin': [{ status: 404, code: 'NO_TOKEN' }], failure: [ended('COMPLETED', [-36])] },
  })
  await made.capture()
  await made.reaches('ended')
  assert.deepEqual(made.reported(), [[-36, 'no_hint']])
  assert.deepEqual(made.sent(), ['token/begin'])
  assert.equal(records.kept.size, 1)
})

test('a refused token costs a try, and the next try makes another one', async () => {
  const made = await fixture({
    type: 'ENROLL',
    answers: { 'token/enrol': [{ status: 409, code: 'TOKEN_REFUSED' }] },
  })
  await made.capture()
  await made.reaches('retry', { tip: 'models' })
  await made.until(() => made.reported().length === 1)
  assert.deepEqual(made.reported(), [[-22, 'token_refused']])
  made.flow.actions.startCamera()
  await made.reaches('done')
  assert.deepEqual(made.sent(), ['token/begin', 'token/enrol', 'token/begin', 'token/enrol', 'submit'])
})

test('a key holder that is away is asked three times, then the session ends with a hint to try again later', async () => {
  const away = { status: 503, code: 'KEY_HOLDER_UNAVAILABLE' }
  const back = await fixture({ apis: { records: await recordsOf() }, answers: { 'token/begin': [away, away] } })
  await back.capture()
  await back.reaches('done')
  const made = await fixture({
    apis: { records: await recordsOf() },
    answers: { 'token/begin': [away, away, away], failure: [ended('COMPLETED', [-100])] },
  })
  await made.capture()
  await made.reaches('ended')
  assert.deepEqual(made.sent(), ['token/begin', 'token/begin', 'token/begin'])
  assert.deepEqual(made.reported(), [[-100, 'key_holder']])
})

test('a lost answer is asked for again with the same token', async () => {
  const made = await fixture({ type: 'ENROLL', answers: { 'token/enrol': ['no network'] } })
  await made.capture()
  await made.reaches('done')
  const [first, second] = made.service.bodies('token/enrol')
  assert.ok(first?.signature !== undefined && first.signature === second?.signature)
})

test('a worker that fails is ended too, and costs a try', async () => {
  const workers = createWorkers({ fails: true })
  const made = await fixture({ type: 'ENROLL', apis: { startWorker: workers.start } })
  await made.capture()
  await made.reaches('retry', { tip: 'models' })
  await made.until(() => made.reported().length === 1)
  assert.deepEqual(made.reported(), [[-20, 'token_worker']])
  assert.deepEqual([workers.seen.started, workers.seen.ended], [1, 1])
})

test('a token whose time is nearly over gets a successor after its probe, and the browser keeps the new key', async () => {
  const records = await recordsOf()
  const made = await fixture({ apis: { records } })
  made.service.answerTokens({ renewalDue: true })
  await made.capture()
  await made.until(() => records.kept.get('shop')?.tokenId === SUCCESSOR_ID)
  assert.deepEqual(made.sent(), ['token/begin', 'token/probe', 'token/begin', 'token/enrol', 'submit'])
  const [payload] = await made.payloads()
  assert.deepEqual([payload?.token?.id, payload?.successor?.id, payload?.face], [TOKEN_ID, SUCCESSOR_ID, undefined])
})

test('a successor that fails does not fail the sign-in, and the old key stays', async () => {
  const records = await recordsOf()
  const made = await fixture({
    apis: { records },
    answers: { 'token/enrol': [{ status: 409, code: 'TOKEN_REFUSED' }], submit: [{ ...SUCCESS }] },
  })
  made.service.answerTokens({ renewalDue: true })
  await made.capture()
  await made.reaches('done')
  const [payload] = await made.payloads()
  assert.deepEqual([payload?.token?.id, payload?.successor], [TOKEN_ID, undefined])
  assert.equal(records.kept.get('shop')?.tokenId, TOKEN_ID)
  await made.until(() => records.aside.size === 0)
})

test('where a stored vector is to be replaced, a browser without a key sends it once more, with the token that replaces it', async () => {
  const made = await fixture({ facts: { migrates: true } })
  await made.capture()
  await made.until(() => made.records.kept.size === 1)
  assert.deepEqual(made.sent(), ['token/begin', 'token/enrol', 'submit'])
  assert.equal(made.service.bodies('token/begin')[0]?.for, 'successor')
  const [payload] = await made.payloads()
  assert.deepEqual([payload?.token, payload?.successor?.id], [undefined, SUCCESSOR_ID])
  assert.ok(payload?.face, 'the service compares it with the stored one')
  const again = await fixture({ facts: { migrates: true }, apis: { records: await recordsOf() } })
  await again.capture()
  await again.reaches('done')
  const [next] = await again.payloads()
  assert.deepEqual([next?.face, next?.token?.id], [undefined, TOKEN_ID])
})

/** A browser in which the person has enrolled with a local token. */
async function localTokens() {
  const tokens = storageWith()
  const made = await fixture({ type: 'ENROLL', tokens })
  await made.capture()
  await made.until(() => tokens.kept.size === 1)
  return tokens
}

test('with `local_first` a local hit is enough: neither probe nor vector is sent, even without the key of a token', async () => {
  const made = await fixture({ tokens: await localTokens(), facts: { matching: 'local_first' } })
  await made.capture()
  await made.reaches('done')
  assert.deepEqual(made.sent(), ['submit'])
  const [payload] = await made.payloads()
  assert.ok(payload?.local && 'hit' in payload.local && payload.local.hit)
  assert.deepEqual([payload?.face, payload?.token], [undefined, undefined])
})

test('after a local miss, and with `server` after a hit, the probe is sent', async () => {
  const tokens = await localTokens()
  for (const [matching, face, hit] of [
    ['local_first', faceOf(2), false],
    ['server', faceOf(1), true],
  ] as const) {
    const made = await fixture({ tokens, face, facts: { matching }, apis: { records: await recordsOf() } })
    await made.capture()
    await made.reaches('done')
    const [payload] = await made.payloads()
    assert.ok(payload?.local && 'hit' in payload.local)
    assert.deepEqual([payload.local.hit, payload.token?.id, payload.face], [hit, TOKEN_ID, undefined])
  }
})

test('when the service wants what was withheld, the probe follows without another capture', async () => {
  const made = await fixture({
    tokens: await localTokens(),
    facts: { matching: 'local_first' },
    apis: { records: await recordsOf() },
    answers: { submit: [{ state: 'FACE_ACTIVE' }] },
  })
  await made.capture()
  await made.reaches('done')
  assert.deepEqual(made.sent(), ['submit', 'token/begin', 'token/probe', 'submit'])
  assert.equal(made.seen.cameras, 1)
  const [claim, probe] = await made.payloads()
  assert.ok(claim?.local && !claim.token)
  assert.deepEqual([probe?.local, probe?.token?.id, probe?.face], [undefined, TOKEN_ID, undefined])
})

test('when the withheld probe cannot be sent, the session ends with the reason, or offers another try', async () => {
  const tokens = await localTokens()
  const shared = { facts: { matching: 'local_first' } } as const
  const wanted = () => ({ submit: [{ state: 'FACE_ACTIVE' }] })
  const without = await fixture({
    ...{ ...shared, tokens: storageWith(new Map(tokens.kept)) },
    answers: { ...wanted(), failure: [ended('COMPLETED', [-36])] },
  })
  await without.capture()
  await without.reaches('ended')
  assert.deepEqual(without.reported(), [[-36, 'no_hint']])
  const refused = await fixture({
    ...{ ...shared, tokens: storageWith(new Map(tokens.kept)), apis: { records: await recordsOf() } },
    answers: { ...wanted(), 'token/probe': [{ status: 409, code: 'TOKEN_REFUSED' }] },
  })
  await refused.capture()
  await refused.reaches('retry')
})

test('an enrolment that ends after a reload of the page still has its key', async () => {
  const records = recordsWith()
  const first = await fixture({
    ...{ type: 'ENROLL', requirements: ['face', 'passkey'], apis: { records } },
    answers: { submit: [{ state: 'PASSKEY_ACTIVE' }] },
  })
  await first.capture()
  await first.reaches('passkey')
  assert.deepEqual([records.kept.size, [...records.aside.keys()]], [0, [SESSION_ID]])
  const success = { ...ended('COMPLETED'), state: 'SUCCESS', tokenBound: true } as const
  const again = await fixture({
    ...{ type: 'ENROLL', requirements: ['face', 'passkey'], apis: { records } },
    answers: { open: [{ state: 'PASSKEY_ACTIVE' }], 'passkey/verify': [success] },
  })
  await again.flow.start()
  await again.reaches('passkey')
  again.flow.actions.askPasskey()
  await again.until(() => records.kept.size === 1)
  assert.equal(records.kept.get('shop')?.tokenId, TOKEN_ID)
})

test('when another device takes over, the key made here is dropped', async () => {
  const made = await fixture({
    ...{ type: 'ENROLL', requirements: ['face', 'passkey'] },
    answers: { submit: [{ state: 'PASSKEY_ACTIVE' }] },
  })
  await made.capture()
  await made.reaches('passkey')
  assert.equal(made.records.aside.size, 1)
  made.flow.actions.askHandoff()
  await made.until(() => made.records.aside.size === 0)
})
