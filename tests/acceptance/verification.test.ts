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

/** From the runner, or of any installation you want to judge: OSTIARY_URL, keys of two tenants and a client of the first. */
function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run this with npm run acceptance`)
  return value
}

const baseUrl = setting('OSTIARY_URL')
const apiKey = setting('OSTIARY_TEST_KEY_ONE')
const liveKey = setting('OSTIARY_LIVE_KEY_ONE')
const credentials = { clientId: setting('OSTIARY_LIVE_CLIENT_ID'), clientSecret: setting('OSTIARY_LIVE_CLIENT_SECRET') }
const { verification, webhooks, node } = createClient({ baseUrl, apiKey })
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const hasStatus = (status: number) => (error: unknown) => error instanceof OstiaryError && error.status === status

interface Arrived {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  says: VerificationWebhook
}

/** The host's receiver. */
const arrived: Arrived[] = []
const receiver = createServer(async (request, response) => {
  const body = await buffer(request)
  const { method = '', url = '', headers } = request
  arrived.push({ method, path: url, headers, body, says: JSON.parse(body.toString()) })
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

async function sandbox(path: string, body: object): Promise<number> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  return (await fetch(`${baseUrl}/test${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

/** The n-th webhook of a session, whose signature is right. */
async function webhookOf(sessionId: string, number = 1): Promise<Arrived> {
  const found = await eventually(() => arrived.filter(({ says }) => says.sessionId === sessionId)[number - 1])
  const { headers, body } = found
  const timestamp = String(headers['x-service-timestamp'])
  const signature = String(headers['x-service-signature'])
  assert.equal(signature, `sha256=${createHmac('sha256', apiKey).update(`${timestamp}.`).update(body).digest('hex')}`)
  assert.equal(await verifyWebhook({ apiKey, timestamp, signature, body }), true)
  return found
}

test('[D-008] [D-009] [D-014] [D-030] [D-031] [D-032] [D-033] [X-019] [X-020] an ENROLL from its creation to the webhook that its receiver can verify', async () => {
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
  const { method, path, headers, body, says } = await webhookOf(created.sessionId)
  assert.deepEqual([method, path], ['POST', '/hook?of=shop'])
  assert.deepEqual([headers['x-shop'], headers.authorization], ['seven', 'Bearer shop'])
  assert.deepEqual(
    [headers['content-type'], headers['x-service-event']],
    ['application/json', 'verification.succeeded'],
  )
  const { puid = '', guid = '', identityInformation } = says
  assert.deepEqual(says, {
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
      policyVersion: '1',
    },
    type: 'ENROLL',
    outcome: 'SUCCEEDED',
    livemode: false,
  })
  assert.ok(puid.length > 0 && guid.length > 0 && puid !== guid)
  assert.match(identityInformation?.verificationDate ?? '', /^\d{13}$/)
  assert.equal(JSON.stringify(await verification.webhook(created.sessionId)), body.toString(), 'and can be read again')
  const ended = await verification.get(created.sessionId)
  assert.deepEqual([ended.state, ended.outcome], ['SUCCESS', 'SUCCEEDED'])
})

test('[D-057] [D-058] [D-059] [D-061] a SIGN-IN that fails has its own body, an ENROLL that fails has the other', async () => {
  const [signIn, enrol] = [await create({ type: 'SIGN-IN' }), await create()]
  for (const { sessionId } of [signIn, enrol]) {
    assert.equal(await sandbox(`/sessions/${sessionId}/outcome`, { outcome: 'spoof' }), 204)
  }
  const failed = await webhookOf(signIn.sessionId)
  assert.equal(failed.headers['x-service-event'], 'verification.failed')
  const { riskEvaluation, ...rest } = failed.says
  const errors = [{ code: 1, message: 'Image spoof' }]
  assert.deepEqual(rest, {
    sessionId: signIn.sessionId,
    status: 'error',
    message: 'Image spoof',
    errors,
    errorCodes: [1],
    type: 'SIGN-IN',
    outcome: 'FAILED',
    livemode: false,
  })
  assert.equal(riskEvaluation.signals.behavioral, null)
  const { riskEvaluation: _, ...other } = (await webhookOf(enrol.sessionId)).says
  assert.deepEqual(other, {
    sessionId: enrol.sessionId,
    status: 'FAILED',
    message: 'Image spoof',
    errors,
    type: 'ENROLL',
    outcome: 'FAILED',
    livemode: false,
  })
})

test('[D-060] a SIGN-IN that has to wait says for how long', async () => {
  const { sessionId } = await create({ type: 'SIGN-IN', transactionID: 'locked out' })
  assert.equal(await sandbox(`/sessions/${sessionId}/outcome`, { outcome: 'locked' }), 204)
  const { says } = await webhookOf(sessionId)
  assert.deepEqual([says.status, says.errorCodes, says.retryAfter], ['error', [-35], 30])
})

test('[D-020] [D-041] a selfie that was asked for comes with the webhook, once, and is nowhere else', async () => {
  const { sessionId } = await create({ sendImages: true })
  assert.equal(await sandbox(`/sessions/${sessionId}/outcome`, { outcome: 'success' }), 204)
  const { headers, says } = await webhookOf(sessionId)
  const [image, ...others] = says.images ?? []
  assert.deepEqual([image?.type, others.length], ['portrait', 0])
  assert.deepEqual([...Buffer.from(image?.data ?? '', 'base64').subarray(0, 3)], [0xff, 0xd8, 0xff], 'a JPEG')
  const { images: _, ...without } = says
  assert.deepEqual(await verification.webhook(sessionId), without)
  const delivery = String(headers['x-service-delivery'])
  await eventually(async () => ((await webhooks.get(delivery)).state === 'delivered' ? true : undefined))
  await webhooks.replay(delivery)
  const again = await webhookOf(sessionId, 2)
  assert.equal(again.headers['x-service-delivery'], delivery)
  assert.deepEqual(again.says, without)
})

test('cancel, delete, and what is left; the worker ends what nobody ends', async () => {
  const { sessionId } = await create({ type: 'VERIFY', customerId: 'customer-17', nonce: 'n-1' })
  await assert.rejects(verification.delete(sessionId), hasStatus(409))
  const cancelled = await verification.cancel(sessionId)
  assert.deepEqual(
    [cancelled.status, cancelled.outcome, cancelled.errors, cancelled.nonce],
    ['FAILED', 'CANCELLED', [{ code: -38, message: 'Cancelled by the host' }], 'n-1'],
  )
  assert.deepEqual((await webhookOf(sessionId)).says, cancelled)
  await verification.delete(sessionId)
  await assert.rejects(verification.webhook(sessionId), hasStatus(410))
  assert.equal((await verification.get(sessionId)).state, 'PURGED')

  const forgotten = await create({ sessionExpiry: 'PT1M' })
  assert.equal(await sandbox('/clock/advance', { seconds: 61 }), 204)
  const { says } = await webhookOf(forgotten.sessionId)
  assert.deepEqual([says.outcome, says.errors], ['EXPIRED', [{ code: -8, message: 'Session expired' }]])
})

test('a transaction that begins with test: ends so when a device opens the session', async () => {
  const { sessionId } = await create({ type: 'SIGN-IN', transactionID: `test:not_enrolled ${randomUUID()}` })
  const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock: systemClock, userAgent: PHONE })
  const opened = await device.open()
  assert.deepEqual([opened.state, opened.flowStatus], ['FAILED', 'COMPLETED'])
  assert.equal(opened.redirectUrl, `https://shop.example/welcome?sessionId=${sessionId}&status=FAILED`)
  assert.deepEqual((await webhookOf(sessionId)).says.errorCodes, [-36])
})

/** Numbers of an invented face: one seed is one person, a second one another picture of them. */
function faceOf(person: number, picture: number): number[] {
  const [own, noise] = [seededRandom(person), seededRandom(picture)]
  return Array.from({ length: 512 }, () => own() - 0.5 + 0.4 * (noise() - 0.5))
}

/** A user with a phone and this face, who does what the page asks. */
async function visit(sessionId: string, vector: number[]) {
  const clock = createSimulatedClock(systemClock)
  const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock, userAgent: PHONE })
  return runFlow(device, { clock, random: seededRandom(7), ageYears: null, vector })
}

test('[D-001] [D-002] [D-036] a face that was enrolled is found again with its person, another is not, and a deleted one neither', async () => {
  const person = Math.floor(Math.random() * 2 ** 31)
  const webhookAfter = async (body: Parameters<typeof create>[0], vector: number[]) => {
    const { sessionId } = await create(body)
    await visit(sessionId, vector)
    return (await webhookOf(sessionId)).says
  }
  const enrolled = await webhookAfter({ type: 'ENROLL' }, faceOf(person, 1))
  assert.deepEqual([enrolled.status, enrolled.errors], ['SUCCESS', []])
  const { puid = '' } = enrolled
  const found = await webhookAfter({ type: 'SIGN-IN' }, faceOf(person, 2))
  assert.deepEqual([found.status, found.puid, found.guid, found.matchedBy], ['SUCCESS', puid, enrolled.guid, 'server'])
  const verified = await webhookAfter({ type: 'VERIFY', puid, nonce: 'n-2' }, faceOf(person, 3))
  assert.deepEqual([verified.status, verified.puid, verified.nonce], ['SUCCESS', puid, 'n-2'])
  const stranger = await webhookAfter({ type: 'SIGN-IN' }, faceOf(person + 1, 1))
  assert.deepEqual([stranger.status, stranger.errorCodes, stranger.puid], ['error', [-36], undefined])
  const other = await webhookAfter({ type: 'VERIFY', puid }, faceOf(person + 1, 1))
  assert.deepEqual([other.status, other.errors], ['FAILED', [{ code: -9, message: 'Face does not match' }]])
  await node.deleteUser(puid)
  const gone = await webhookAfter({ type: 'SIGN-IN' }, faceOf(person, 4))
  assert.deepEqual([gone.status, gone.errorCodes], ['error', [-36]])
})

test('[D-054] [D-055] [D-056] the key names the account, client credentials who calls; tenants and modes are apart', async () => {
  const { sessionId } = await create()
  const refused = await fetch(`${baseUrl}/v2/verification-session/${sessionId}`, { headers: { 'x-api-key': 'wrong' } })
  assert.deepEqual([refused.status, await refused.json()], [401, { statusCode: 401, message: 'Invalid API key' }])
  const stranger = createClient({ baseUrl, apiKey: setting('OSTIARY_TEST_KEY_TWO') })
  await assert.rejects(stranger.verification.get(sessionId), hasStatus(404))

  const body = {
    type: 'SIGN-IN',
    redirectURL: 'https://shop.example/back',
    callback: { url: 'https://shop.example/hook' },
  } as const
  const keyAlone = createClient({ baseUrl, apiKey: liveKey })
  await assert.rejects(keyAlone.verification.create(body), { status: 401, message: 'Invalid client credentials' })
  const live = createClient({ baseUrl, apiKey: liveKey, ...credentials })
  const created = await live.verification.create(body)
  assert.equal(created.livemode, true)
  assert.equal((await live.verification.cancel(created.sessionId)).livemode, true)
  await assert.rejects(live.verification.get(sessionId), hasStatus(404), 'a test session')
  const guessing = createClient({
    baseUrl,
    apiKey: liveKey,
    ...credentials,
    clientSecret: `${credentials.clientSecret}x`,
  })
  await assert.rejects(guessing.verification.create(body), hasStatus(401))
  const crossed = createClient({ baseUrl, apiKey: setting('OSTIARY_LIVE_KEY_TWO'), ...credentials })
  await assert.rejects(crossed.verification.create(body), { status: 401, message: 'Invalid client credentials' })
})
