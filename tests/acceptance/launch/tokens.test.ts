import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { type CreatedVerification, type CreateVerificationBody, createClient } from '@ostiary/sdk'
import { readKept } from '@ostiary/testkit/browser/kept'
import type { Recorded } from '@ostiary/testkit/browser/proxy'
import { type SealWatch, watchSeals } from '@ostiary/testkit/browser/seals'
import { PICTURE, TRANSACTION } from '@ostiary/testkit/browser/verification-host'
import { readLedger, showFace } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, type Visitor, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { startTokenSystem, type TokenSystem } from '@ostiary/testkit/token-system'

prepareCameraBrowser()
let tokens: TokenSystem
before(async () => {
  tokens = await startTokenSystem('launch-tokens')
})
after(() => tokens?.stop())

/** Several flows in one test, each with all its tries. */
const MANY_FLOWS = { timeout: 4 * WHOLE_FLOW.timeout }
/** A vector is 512 bytes: 683 characters of base64url, or 512 numbers. */
const PROBE_BYTES = 56_340
const TOKEN_BYTES = 11_316

type Templates = 'token' | 'token_on_device'

interface Person extends Visitor {
  seals: SealWatch
}

async function personWith(t: TestContext): Promise<Person> {
  const visitor = await newVisitor(t, { form: 'phone' })
  return { ...visitor, seals: await watchSeals(visitor.device.context) }
}

/** A customer whose tenant stores this of a face. */
function hostOf(templates: Templates = 'token') {
  const { OSTIARY_URL: baseUrl = '' } = tokens.system.env
  const { verification } = createClient({ baseUrl, apiKey: tokens.keyOf(templates) })
  return {
    webhookOf: ({ sessionId }: CreatedVerification) => verification.webhook(sessionId),
    create: (body: Partial<CreateVerificationBody>): Promise<CreatedVerification> =>
      verification.create({
        type: 'ENROLL',
        redirectURL: 'https://shop.example/back',
        callback: { url: 'https://shop.example/hook' },
        transactionID: TRANSACTION,
        ...body,
      }),
  }
}

/** Opens the session, agrees and shows the face; returns the screen that follows. */
async function run({ visit, camera }: Person, { launchUrl }: CreatedVerification): Promise<string> {
  await visit.open(launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  return (await showFace(visit, camera)).next
}

const tokenCalls = (requests: readonly Recorded[]) =>
  requests.flatMap(({ path, body }) => (path.includes('/api/token/') ? [{ call: path.split('/').at(-1), body }] : []))

/** Nothing that left the browser in this session has a vector or a picture in it. */
function checkNoVector({ device, seals }: Person, { sessionId }: CreatedVerification): void {
  const sealed = seals.of(sessionId)
  assert.ok(sealed.length > 0, 'the capture was sealed')
  for (const payload of sealed) assert.equal(payload.face, undefined)
  for (const { path, body } of device.proxy.requests) {
    assert.doesNotMatch(body.toString('latin1'), /"vector"|"face"/, path)
    if (!path.includes('/token/')) assert.doesNotMatch(body.toString('latin1'), PICTURE, path)
  }
}

/** The tokens that the enrolments below have sent, all of one face. */
const sentTokens: Buffer[] = []

for (const templates of ['token', 'token_on_device'] as const) {
  test(
    `[D-004] [D-043] [D-047] [D-048] ${templates}: a person enrols in Chromium, signs in and is verified, and no request carries a vector`,
    MANY_FLOWS,
    async (t) => {
      const { create, webhookOf } = hostOf(templates)
      const home = await personWith(t)
      const customerId = `ana-${templates}`
      const enrolled = await create({ type: 'ENROLL', customerId })
      assert.equal(await run(home, enrolled), 'done')
      const { puid = assert.fail('nobody was enrolled'), consent } = await webhookOf(enrolled)
      assert.equal(consent?.version, '5')
      assert.deepEqual(
        tokenCalls(home.device.proxy.requests).map(({ call }) => call),
        ['begin', 'enrol'],
      )
      const sentToken = tokenCalls(home.device.proxy.requests).find(({ call }) => call === 'enrol')?.body
      sentTokens.push(Buffer.from(JSON.parse(String(sentToken)).token, 'base64url'))
      assert.match(String(home.seals.of(enrolled.sessionId).at(-1)?.token?.id), /^[A-Za-z0-9_-]{22}$/)
      checkNoVector(home, enrolled)

      for (const body of [{ type: 'SIGN-IN' }, { type: 'VERIFY', customerId }] as const) {
        const since = home.device.proxy.requests.length
        const created = await create(body)
        assert.equal(await run(home, created), 'done')
        const says = await webhookOf(created)
        assert.deepEqual([says.status, says.puid, says.matchedBy], ['SUCCESS', puid, 'server'], body.type)
        const [begin, probe, ...more] = tokenCalls(home.device.proxy.requests.slice(since))
        assert.deepEqual([begin?.call, probe?.call, more.length], ['begin', 'probe', 0])
        const sent = JSON.parse(String(probe?.body))
        assert.equal(Buffer.from(sent.probe, 'base64url').length, PROBE_BYTES)
        assert.equal('sealedToken' in sent, templates === 'token_on_device')
        checkNoVector(home, created)
      }
      await checkKept(home, templates)
      await t.test('in another browser the session ends before the camera starts, and says why', async (t) => {
        const elsewhere = await personWith(t)
        const created = await create({ type: 'SIGN-IN' })
        await elsewhere.visit.open(created.launchUrl)
        await elsewhere.visit.screen(['welcome'])
        await elsewhere.visit.act('consent')
        await elsewhere.visit.page.locator('[data-token-end="no_hint"]').waitFor()
        assert.ok(!elsewhere.visit.screens.some((screen) => screen === 'camera' || screen === 'capture'))
        const { errorCodes, errorDetails } = await webhookOf(created)
        assert.deepEqual([errorCodes, errorDetails?.[0]?.reason], [[-36], 'no_hint'])
      })
    },
  )
}

test('[D-045] two tokens of one face differ in what they say, and have one size', () => {
  const [one, other, ...more] = sentTokens
  assert.ok(one && other && more.length === 0, 'both enrolments have sent a token')
  assert.deepEqual([one.length, other.length], [TOKEN_BYTES, TOKEN_BYTES])
  const alike = one.filter((byte, at) => byte === other[at]).length
  assert.ok(alike < TOKEN_BYTES / 64, `${alike} of ${TOKEN_BYTES} bytes are alike, by chance it is one in 256`)
})

/** The key cannot be read by a script, and nothing that is kept is a readable vector. */
async function checkKept({ visit }: Person, templates: Templates): Promise<void> {
  await visit.open(new URL('/launch/', tokens.system.env.OSTIARY_URL?.replace('127.0.0.1', 'localhost')).href)
  const kept = await readKept(visit.page)
  const own = kept.filter(({ at }) => at.startsWith('ostiary-homomorphic-token/'))
  assert.ok(
    own.every(({ at }) => at.startsWith('ostiary-homomorphic-token/records.')),
    'nothing is left aside',
  )
  const of = (name: string) => own.find(({ at }) => at.endsWith(`.${name}`))
  assert.deepEqual([of('privateKey')?.kind, of('privateKey')?.content], ['CryptoKey', 'private'])
  assert.match(of('publicKeyHash')?.content ?? '', /^[A-Za-z0-9_-]{43}$/)
  assert.equal(of('sealedToken')?.kind, templates === 'token' ? 'null' : 'String')
}

test('the list of what left the device names the token with its bytes', WHOLE_FLOW, async (t) => {
  const { create } = hostOf()
  const home = await personWith(t)
  const created = await create({ type: 'ENROLL', requirements: ['face', 'passkey'] })
  assert.equal(await run(home, created), 'passkey')
  await home.visit.act('ledger')
  const rows = await readLedger(home.visit)
  const listed = rows.filter(({ kind }) => kind === 'token').map(({ path, bytes }) => [path, bytes])
  const sent = tokenCalls(home.device.proxy.requests).find(({ call }) => call === 'enrol')
  assert.deepEqual(listed, [['/launch/api/token/enrol', sent?.body.length]])
  assert.ok(rows.some(({ path, kind }) => path.includes('/assets/token-worker-') && kind === 'page'))
})
