// For tools/spec/count.ts: these tests receive webhooks, so they also prove the rows about webhooks.
// spec-kind: webhook
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createDevice, systemClock } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { createClient, OstiaryError, type VerificationWebhook, verifyWebhook } from '@ostiary/sdk'
import { eventually } from '@ostiary/testkit/eventually'
import { readPicture } from '@ostiary/testkit/samples/portraits'
import { setting } from '@ostiary/testkit/setting'

/**
 * A setting from the environment. `npm run acceptance` sets them all. To test another installation, set OSTIARY_URL, a test key and a live
 * key of two tenants, and an API client (id and secret) of the first.
 */
const baseUrl = setting('OSTIARY_URL')
const apiKey = setting('OSTIARY_TEST_KEY_ONE')
const liveKey = setting('OSTIARY_LIVE_KEY_ONE')
const credentials = { clientId: setting('OSTIARY_LIVE_CLIENT_ID'), clientSecret: setting('OSTIARY_LIVE_CLIENT_SECRET') }
const { verification, webhooks, node } = createClient({ baseUrl, apiKey })
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'
/** Session codes as docs/session-codes.md lists them. They are repeated here because these tests know only what a host knows. */
const CODES = {
  SPOOF: 1,
  SESSION_EXPIRED: -8,
  FACE_NOT_MATCH: -9,
  TEMPORARILY_LOCKED: -35,
  USER_NOT_ENROLLED: -36,
  HOST_CANCELLED: -38,
}
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const hasStatus = (status: number) => (error: unknown) => error instanceof OstiaryError && error.status === status

/**
 * The body says how the session ended in two vocabularies. `status` is that of the specification: SUCCESS, FAILED, or `error` for a failed
 * SIGN-IN. `outcome` is ours: SUCCEEDED, FAILED, CANCELLED or EXPIRED for every type. The session itself has an `outcome` and a `state`.
 */
interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  bytes: Buffer
  body: VerificationWebhook
}

/** The host's receiver of webhooks. */
const received: Received[] = []
const receiver = createServer(async (request, response) => {
  const bytes = await buffer(request)
  const { method = '', url = '', headers } = request
  received.push({ method, path: url, headers, bytes, body: JSON.parse(bytes.toString()) })
  response.writeHead(204).end()
})
let callback: { url: string; headers: Record<string, string> }
before(async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = receiver.address()
  assert.ok(typeof address === 'object' && address)
  callback = {
    url: `http://127.0.0.1:${address.port}/hook?of=shop`,
    headers: { 'X-Shop': 'seven', Authorization: 'Bearer shop' },
  }
})
after(() => receiver.close())

const create = (body: Partial<Parameters<typeof verification.create>[0]> = {}) =>
  verification.create({ type: 'ENROLL', redirectURL: 'https://shop.example/welcome', callback, ...body })

/** Calls an endpoint that is for test keys only: it ends a session without a person, or moves the clock. */
async function sandbox(path: string, body: object): Promise<number> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  return (await fetch(`${baseUrl}/test${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

/** Waits for the n-th webhook of a session and checks its signature. */
async function webhookOf(sessionId: string, number = 1): Promise<Received> {
  const found = await eventually(() => received.filter(({ body }) => body.sessionId === sessionId)[number - 1])
  const { headers, bytes } = found
  const timestamp = String(headers['x-service-timestamp'])
  const signature = String(headers['x-service-signature'])
  assert.equal(signature, `sha256=${createHmac('sha256', apiKey).update(`${timestamp}.`).update(bytes).digest('hex')}`)
  assert.equal(await verifyWebhook({ apiKey, timestamp, signature, body: bytes }), true)
  return found
}

test('[D-008] [D-009] [D-014] [D-030] [D-031] [D-032] [D-033] [X-019] [X-020] ENROLL sends a signed webhook; the API returns it too', async () => {
  const transactionID = `order-${randomUUID()}`
  const created = await create({ transactionID })
  assert.match(created.sessionId, UUID)
  assert.equal(new URL(created.launchUrl).searchParams.get('sessionId'), created.sessionId)
  const open = await verification.get(created.sessionId)
  assert.deepEqual(
    [open.type, open.state, open.outcome, open.transactionId],
    ['ENROLL', 'CREATED', null, transactionID],
  )
  await assert.rejects(verification.webhook(created.sessionId), hasStatus(409))

  assert.equal(await sandbox(`/sessions/${created.sessionId}/outcome`, { outcome: 'success' }), 204)
  const { method, path, headers, bytes, body } = await webhookOf(created.sessionId)
  assert.deepEqual([method, path], ['POST', '/hook?of=shop'])
  assert.deepEqual([headers['x-shop'], headers.authorization], ['seven', 'Bearer shop'])
  assert.deepEqual(
    [headers['content-type'], headers['x-service-event']],
    ['application/json', 'verification.succeeded'],
  )
  const { puid = '', guid = '', identityInformation } = body
  assert.deepEqual(body, {
    sessionId: created.sessionId,
    status: 'SUCCESS',
    transactionId: transactionID,
    message: 'Ok',
    puid,
    guid,
    identityInformation,
    errors: [],
    riskEvaluation: {
      score: 0,
      level: 'LOW',
      recommendation: 'ALLOW',
      flags: [],
      signals: { behavioral: null, browser: null },
      policyVersion: '4',
    },
    type: 'ENROLL',
    outcome: 'SUCCEEDED',
    codeHash: null,
    consent: null,
    livemode: false,
  })
  assert.ok(puid.length > 0 && guid.length > 0 && puid !== guid)
  assert.match(identityInformation?.verificationDate ?? '', /^\d{13}$/)
  const read = await verification.webhook(created.sessionId)
  assert.equal(JSON.stringify(read), bytes.toString(), 'the API returns the body that was sent')
  const ended = await verification.get(created.sessionId)
  assert.deepEqual([ended.state, ended.outcome], ['SUCCESS', 'SUCCEEDED'])
})

test('[D-057] [D-058] [D-059] [D-061] a failed SIGN-IN has status error and errorCodes, a failed ENROLL has status FAILED', async () => {
  const [signIn, enrol] = [await create({ type: 'SIGN-IN' }), await create()]
  for (const { sessionId } of [signIn, enrol]) {
    assert.equal(await sandbox(`/sessions/${sessionId}/outcome`, { outcome: 'spoof' }), 204)
  }
  const failed = await webhookOf(signIn.sessionId)
  assert.equal(failed.headers['x-service-event'], 'verification.failed')
  const { riskEvaluation, ...signInRest } = failed.body
  const errors = [{ code: CODES.SPOOF, message: 'Image spoof' }]
  assert.deepEqual(signInRest, {
    sessionId: signIn.sessionId,
    status: 'error',
    message: 'Image spoof',
    errors,
    errorCodes: [CODES.SPOOF],
    type: 'SIGN-IN',
    outcome: 'FAILED',
    codeHash: null,
    consent: null,
    livemode: false,
  })
  assert.equal(riskEvaluation.signals.behavioral, null)
  const { riskEvaluation: _, ...enrolRest } = (await webhookOf(enrol.sessionId)).body
  assert.deepEqual(enrolRest, {
    sessionId: enrol.sessionId,
    status: 'FAILED',
    message: 'Image spoof',
    errors,
    type: 'ENROLL',
    outcome: 'FAILED',
    codeHash: null,
    consent: null,
    livemode: false,
  })
})

test('[D-060] the webhook of a SIGN-IN that is locked out says in how many seconds to try again', async () => {
  const { sessionId } = await create({ type: 'SIGN-IN', transactionID: 'order-17' })
  assert.equal(await sandbox(`/sessions/${sessionId}/outcome`, { outcome: 'locked' }), 204)
  const { body } = await webhookOf(sessionId)
  assert.deepEqual([body.status, body.errorCodes, body.retryAfter], ['error', [CODES.TEMPORARILY_LOCKED], 30])
})

test('[D-020] [D-041] with sendImages the selfie is in the webhook, but not in its replay and not in the API', async () => {
  const { sessionId } = await create({ sendImages: true })
  assert.equal(await sandbox(`/sessions/${sessionId}/outcome`, { outcome: 'success' }), 204)
  const { headers, body } = await webhookOf(sessionId)
  const [image, ...others] = body.images ?? []
  assert.deepEqual([image?.type, others.length], ['portrait', 0])
  const { width, height } = await readPicture(`data:image/jpeg;base64,${image?.data}`)
  assert.deepEqual([width, height], [16, 16], 'it decodes')
  const withoutImages = { ...body, images: [] }
  assert.deepEqual(await verification.webhook(sessionId), withoutImages)
  const delivery = String(headers['x-service-delivery'])
  await eventually(async () => ((await webhooks.get(delivery)).state === 'delivered' ? true : undefined))
  await webhooks.replay(delivery)
  const replay = await webhookOf(sessionId, 2)
  assert.equal(replay.headers['x-service-delivery'], delivery)
  assert.deepEqual(replay.body, withoutImages)
})

test('a cancelled session can be deleted and is PURGED then; a session that nobody ends expires', async () => {
  const { sessionId } = await create({ type: 'VERIFY', customerId: 'customer-17', nonce: 'n-1' })
  await assert.rejects(verification.delete(sessionId), hasStatus(409))
  const cancelled = await verification.cancel(sessionId)
  assert.deepEqual(
    [cancelled.status, cancelled.outcome, cancelled.errors, cancelled.nonce],
    ['FAILED', 'CANCELLED', [{ code: CODES.HOST_CANCELLED, message: 'Cancelled by the host' }], 'n-1'],
  )
  assert.deepEqual((await webhookOf(sessionId)).body, cancelled)
  await verification.delete(sessionId)
  await assert.rejects(verification.webhook(sessionId), hasStatus(410))
  assert.equal((await verification.get(sessionId)).state, 'PURGED')

  const forgotten = await create({ sessionExpiry: 'PT1M' })
  assert.equal(await sandbox('/clock/advance', { seconds: 61 }), 204)
  const { body } = await webhookOf(forgotten.sessionId)
  const expired = { code: CODES.SESSION_EXPIRED, message: 'Session expired' }
  assert.deepEqual([body.outcome, body.errors], ['EXPIRED', [expired]])
})

test('a transactionID that begins with test:<outcome> ends the session with this outcome when a device opens it', async () => {
  const { sessionId } = await create({ type: 'SIGN-IN', transactionID: `test:not_enrolled ${randomUUID()}` })
  const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock: systemClock, userAgent: PHONE })
  const opened = await device.open()
  assert.deepEqual([opened.state, opened.flowStatus], ['FAILED', 'COMPLETED'])
  assert.equal(
    opened.redirectUrl,
    `https://shop.example/welcome?sessionId=${sessionId}&status=FAILED&code=${opened.code}`,
  )
  assert.deepEqual((await webhookOf(sessionId)).body.errorCodes, [CODES.USER_NOT_ENROLLED])
})

/** The vector of an invented face. One seed chooses the person, the other the picture: pictures of one person differ by a little noise. */
function faceOf(personSeed: number, pictureSeed: number): number[] {
  const [person, noise] = [seededRandom(personSeed), seededRandom(pictureSeed)]
  return Array.from({ length: 512 }, () => person() - 0.5 + 0.4 * (noise() - 0.5))
}

/** A user with a phone and this face, who does what the page asks. */
async function visit(sessionId: string, vector: number[]) {
  const clock = createSimulatedClock(systemClock)
  const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock, userAgent: PHONE })
  return runFlow(device, { clock, random: seededRandom(7), ageYears: null, vector })
}

test('[D-001] [D-002] [D-036] SIGN-IN and VERIFY recognise an enrolled face and no other; a deleted one is not found', async () => {
  const person = Math.floor(Math.random() * 2 ** 31)
  const webhookAfter = async (body: Parameters<typeof create>[0], vector: number[]) => {
    const { sessionId } = await create(body)
    await visit(sessionId, vector)
    return (await webhookOf(sessionId)).body
  }
  const enrolled = await webhookAfter({ type: 'ENROLL' }, faceOf(person, 1))
  assert.deepEqual([enrolled.status, enrolled.errors], ['SUCCESS', []])
  const { puid = '' } = enrolled
  const found = await webhookAfter({ type: 'SIGN-IN' }, faceOf(person, 2))
  assert.deepEqual([found.status, found.puid, found.guid, found.matchedBy], ['SUCCESS', puid, enrolled.guid, 'server'])
  const verified = await webhookAfter({ type: 'VERIFY', puid, nonce: 'n-2' }, faceOf(person, 3))
  assert.deepEqual([verified.status, verified.puid, verified.nonce], ['SUCCESS', puid, 'n-2'])
  const unknownFace = await webhookAfter({ type: 'SIGN-IN' }, faceOf(person + 1, 1))
  assert.deepEqual(
    [unknownFace.status, unknownFace.errorCodes, unknownFace.puid],
    ['error', [CODES.USER_NOT_ENROLLED], undefined],
  )
  const wrongFace = await webhookAfter({ type: 'VERIFY', puid }, faceOf(person + 1, 1))
  const noMatch = { code: CODES.FACE_NOT_MATCH, message: 'Face does not match' }
  assert.deepEqual([wrongFace.status, wrongFace.errors], ['FAILED', [noMatch]])
  await node.deleteUser(puid)
  const deleted = await webhookAfter({ type: 'SIGN-IN' }, faceOf(person, 4))
  assert.deepEqual([deleted.status, deleted.errorCodes], ['error', [CODES.USER_NOT_ENROLLED]])
})

test('[D-054] [D-055] [D-056] a wrong API key is refused, live calls need client credentials, tenants and modes are separate', async () => {
  const { sessionId } = await create()
  const refused = await fetch(`${baseUrl}/v2/verification-session/${sessionId}`, { headers: { 'x-api-key': 'wrong' } })
  assert.deepEqual([refused.status, await refused.json()], [401, { statusCode: 401, message: 'Invalid API key' }])
  const otherTenant = createClient({ baseUrl, apiKey: setting('OSTIARY_TEST_KEY_TWO') })
  await assert.rejects(otherTenant.verification.get(sessionId), hasStatus(404))

  const body = {
    type: 'SIGN-IN',
    redirectURL: 'https://shop.example/back',
    callback: { url: 'https://shop.example/hook' },
  } as const
  const withoutCredentials = createClient({ baseUrl, apiKey: liveKey })
  const refusal = { status: 401, message: 'Invalid client credentials' }
  const missing = { status: 401, message: /^Client credentials are missing: send client id and secret/ }
  await assert.rejects(withoutCredentials.verification.create(body), missing)
  const live = createClient({ baseUrl, apiKey: liveKey, ...credentials })
  const created = await live.verification.create(body)
  assert.equal(created.livemode, true)
  assert.equal((await live.verification.cancel(created.sessionId)).livemode, true)
  await assert.rejects(live.verification.get(sessionId), hasStatus(404), 'a live key cannot read a test session')
  const withWrongSecret = createClient({
    baseUrl,
    apiKey: liveKey,
    ...credentials,
    clientSecret: `${credentials.clientSecret}x`,
  })
  await assert.rejects(withWrongSecret.verification.create(body), hasStatus(401))
  const withCredentialsOfOther = createClient({ baseUrl, apiKey: setting('OSTIARY_LIVE_KEY_TWO'), ...credentials })
  await assert.rejects(withCredentialsOfOther.verification.create(body), refusal)
})
