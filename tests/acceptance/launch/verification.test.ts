import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import {
  type CreatedVerification,
  type CreateVerificationBody,
  codeMatches,
  type VerificationWebhook,
} from '@ostiary/sdk'
import { type Authenticator, forged, plugIn } from '@ostiary/testkit/browser/authenticator'
import type { DeviceOptions } from '@ostiary/testkit/browser/browser'
import { readKept } from '@ostiary/testkit/browser/kept'
import type { LiveCamera } from '@ostiary/testkit/browser/live-camera'
import { startOtherFace, takePlace } from '@ostiary/testkit/browser/other-face'
import { type SealWatch, watchSeals } from '@ostiary/testkit/browser/seals'
import {
  agree,
  checkNoPictures,
  mainPartOf,
  PICTURE,
  startVerificationHost,
  TRANSACTION,
  type VerificationHost,
} from '@ostiary/testkit/browser/verification-host'
import { showFace } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, type Visitor, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
let host: VerificationHost
before(async () => {
  host = await startVerificationHost()
})
after(() => host?.stop())

const FACE_AND_PASSKEY: Pick<CreateVerificationBody, 'requirements'> = { requirements: ['face', 'passkey'] }
const BODY_BYTES_MAX = 32 * 1024
const SELFIE_BYTES_MAX = 400 * 1024
/** Failed sign-ins are counted for this long, which is also the longest wait. */
const LOCKOUT_SECONDS = 15 * 60
const TOKEN_BYTES = 4096
const VECTOR_BYTES = 512
/** Seven flows, two of them with all their tries. */
const ALL_FLOWS = { timeout: 7 * WHOLE_FLOW.timeout }

// The id lets `npm run spec`, which chooses tests by it, run the flows inside.
test(
  '[merge] [D-002] a person enrols, signs in on two devices, is distinguished from others, and is deleted',
  ALL_FLOWS,
  async (t) => {
    const home = await personWith(t, { form: 'phone' })
    let puid = ''
    // On a permanent installation, data of an earlier run must not count, and this run must leave nothing behind.
    await host.advanceClock(2 * LOCKOUT_SECONDS)
    t.after(() => host.client.node.deleteUser(puid))
    const flow = (name: string, run: (t: TestContext) => Promise<void>) =>
      t.test(name, WHOLE_FLOW, async (t) => {
        assert.ok(puid, 'nobody has enrolled')
        await run(t)
      })

    await t.test(
      '[D-005] [D-006] [D-012] [D-020] [D-022] [D-032] ENROLL with face and passkey sends numbers of a face, keeps a token, and goes back',
      WHOLE_FLOW,
      async () => {
        puid = await enrol(home)
      },
    )
    await flow(
      '[D-032] [D-049] SIGN-IN in the same browser compares here: with a passkey that is enough, and no vector is sent',
      () => signInHere(home, puid),
    )
    await flow('[full] SIGN-IN with a forged passkey, then with none: refused with -25', () =>
      signInWithoutPasskey(home),
    )
    await flow(
      '[full] [D-050] SIGN-IN in another browser, which has the passkey but no token: the service compares',
      (t) => signInElsewhere(t, home, puid),
    )
    await t.test('[full] somebody else', ALL_FLOWS, async (t) => {
      assert.ok(puid, 'nobody has enrolled')
      const other = await startOtherFace()
      const changeBack = takePlace(home.camera, other)
      t.after(() => {
        changeBack()
        other.stop()
      })
      await t.test(
        '[D-051] SIGN-IN by somebody else in that browser: not the face of its token, so the service looks, and refuses',
        WHOLE_FLOW,
        () => signInAsSomebodyElse(home, other),
      )
      await t.test(
        '[D-020] [D-021] [D-022] [D-041] ENROLL with selfie and age: the page says so before, the webhook has both, and the selfie travels sealed',
        WHOLE_FLOW,
        async (t) => {
          const guest = await enrolWithSelfie(t, other)
          t.after(() => host.client.node.deleteUser(guest))
          assert.notEqual(guest, puid)
        },
      )
    })
    await flow(
      '[full] [D-052] SIGN-IN where the policy wants the service to compare: a hit here is not enough, and who was deleted stays out',
      async () => {
        await host.client.node.deleteUser(puid)
        await signInInVain(home)
      },
    )
  },
)

interface Person extends Visitor {
  authenticator: Authenticator
  seals: SealWatch
}

async function personWith(t: TestContext, options?: DeviceOptions): Promise<Person> {
  const visitor = await newVisitor(t, options)
  const seals = await watchSeals(visitor.device.context)
  return { ...visitor, seals, authenticator: await plugIn(visitor.visit.page) }
}

async function enrol(home: Person): Promise<string> {
  const { visit, camera, authenticator, seals, device } = home
  const created = await host.create({ type: 'ENROLL', ...FACE_AND_PASSKEY })
  const letGo = holdWayBack(home)
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  assert.equal(await visit.page.locator('[data-note="selfie"]').count(), 0)
  await visit.act('consent')
  assert.equal((await showFace(visit, camera)).next, 'passkey')
  await visit.page.locator('[data-mode="create"]').waitFor()
  await visit.act('passkey')
  await visit.saw(['done'])
  const says = await host.webhookOf(created)
  assert.deepEqual(mainPartOf(says), { ...successOf(created, says), type: 'ENROLL' })
  assert.equal((await authenticator.credentials()).length, 1)

  const sealed = seals.of(created.sessionId)
  const vector = sealed.at(-1)?.face?.vector ?? assert.fail('no vector was sent')
  assert.deepEqual([sealed.at(-1)?.estimate?.frames, seals.all.length - sealed.length], [0, 0], 'no age, no selfie')
  assert.doesNotMatch(JSON.stringify(sealed), PICTURE)
  checkNoPictures(device.proxy.requests, BODY_BYTES_MAX)
  letGo()
  await isSentBack(home, says)
  // The page forgets the key of the session when it leaves. Without a session it opens nothing and keeps nothing.
  await visit.open(new URL('?', created.launchUrl).href)
  await checkKept(home, vector)
  return says.puid ?? ''
}

async function signInHere(home: Person, puid: string): Promise<void> {
  const created = await host.create({ type: 'SIGN-IN', ...FACE_AND_PASSKEY })
  const says = await signIn(home, created)
  const expected = { ...successOf(created, says), type: 'SIGN-IN', puid, matchedBy: 'local+passkey' }
  assert.deepEqual(mainPartOf(says), expected)
  assert.deepEqual(claimsOf(home, created), ['a hit'])
}

async function signInWithoutPasskey({ visit, camera, authenticator }: Person): Promise<void> {
  const created = await host.create({ type: 'SIGN-IN', ...FACE_AND_PASSKEY })
  const own = await authenticator.credentials()
  await authenticator.holdOnly(own.map(forged))
  await agree(visit, created)
  assert.equal((await showFace(visit, camera)).next, 'passkey')
  await visit.act('passkey')
  await visit.attributeIs('data-status', 'refused')
  await authenticator.holdOnly([])
  await visit.act('passkey')
  await visit.attributeIs('data-status', 'none_here')
  const since = visit.screens.length
  await visit.act('passkey-skip')
  await visit.saw(['ended'], since)
  assert.deepEqual(
    mainPartOf(await host.webhookOf(created)),
    failureOf(created, { code: -25, message: 'Passkey failed' }),
  )
  await authenticator.holdOnly(own)
}

async function signInElsewhere(t: TestContext, home: Person, puid: string): Promise<void> {
  const desk = await personWith(t)
  await desk.authenticator.holdOnly(await home.authenticator.credentials())
  const created = await host.create({ type: 'SIGN-IN', ...FACE_AND_PASSKEY, enableDesktop: true })
  const says = await signIn(desk, created)
  const expected = { ...successOf(created, says), type: 'SIGN-IN', puid, matchedBy: 'server+passkey' }
  assert.deepEqual(mainPartOf(says), expected)
  assert.deepEqual(claimsOf(desk, created), ['a vector'])
}

async function signInAsSomebodyElse(home: Person, other: LiveCamera): Promise<void> {
  const sessions = await signInAsNobody(home, other, FACE_AND_PASSKEY)
  assert.deepEqual(claimsOf(home, ...sessions), ['a vector and a miss'])
}

async function enrolWithSelfie(t: TestContext, other: LiveCamera): Promise<string> {
  const guest = await personWith(t, { form: 'phone' })
  const { visit, device, seals } = guest
  const created = await host.create({ type: 'ENROLL', sendImages: true, estimateAge: true })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.page.locator('[data-note="selfie"]').waitFor()
  await visit.act('consent')
  assert.equal((await showFace(visit, other)).next, 'done')
  const { images, estimatedAge = 0, ...says } = await host.webhookOf(created)
  assert.deepEqual(mainPartOf(says), { ...successOf(created, says), type: 'ENROLL' })
  // A drawn face has no age: 17 was seen, and what counts is that there is an estimate.
  assert.ok(Number.isInteger(estimatedAge) && estimatedAge >= 10 && estimatedAge < 100, `${estimatedAge} years`)

  const data = images?.[0]?.data ?? ''
  assert.deepEqual(images, [{ type: 'portrait', data }])
  await checkPortrait(guest, data)
  assert.equal(seals.all.findLast(({ jpeg }) => jpeg)?.jpeg, data, 'it is the picture that the page has sealed')
  const submits = device.proxy.requests.filter(({ path }) => path === '/launch/api/submit')
  const { selfie } = JSON.parse(submits.at(-1)?.body.toString() ?? '{}')
  assert.match(selfie, /^[\w-]+(\.[\w-]*){4}$/, 'a compact JWE')
  assert.ok(selfie.length > data.length / 2, 'that can hold the picture')
  checkNoPictures(device.proxy.requests, SELFIE_BYTES_MAX)
  assert.match(data, PICTURE, 'a picture that is not sealed would have been seen')
  return says.puid ?? ''
}

async function signInInVain(home: Person): Promise<void> {
  const sessions = await signInAsNobody(home, home.camera, {})
  // It was judged in its last try only: what the browser says from then on is said in another session.
  if (!claimsOf(home, ...sessions).includes('a vector')) sessions.push(...(await signInAsNobody(home, home.camera, {})))
  // Once the service has refused a hit, the token is of no use any more.
  assert.deepEqual(claimsOf(home, ...sessions), ['a vector and a hit', 'a vector'])
  assert.deepEqual(home.visit.faults, [])
}

/** Sessions that one refusal may take on a machine that stalls: only one whose last capture was inconclusive is followed by another. */
const SESSIONS_MAX = 3

/**
 * Signs in without a passkey, uses all attempts, and is refused as a person who is not enrolled. A session whose last capture is
 * inconclusive says nothing about that and is repeated. Returns all sessions; the last one ended with -36.
 */
async function signInAsNobody(
  { visit, device }: Person,
  camera: LiveCamera,
  body: Partial<CreateVerificationBody>,
): Promise<CreatedVerification[]> {
  const sessions: CreatedVerification[] = []
  for (;;) {
    const created = await host.create({ type: 'SIGN-IN', ...body })
    sessions.push(created)
    await agree(visit, created)
    assert.equal((await showFace(visit, camera)).next, 'ended')
    const says = await host.webhookOf(created)
    const codes = device.proxy.requests
      .filter(({ path, body }) => path === '/launch/api/submit' && body.includes(created.sessionId))
      .flatMap(({ answer }) => JSON.parse(answer).errors as number[])
    const why = JSON.stringify([says.errors, codes, visit.screens])
    const isRepeated = codes.at(-1) === INCONCLUSIVE.code && sessions.length < SESSIONS_MAX
    assert.deepEqual(mainPartOf(says), failureOf(created, isRepeated ? INCONCLUSIVE : NOT_ENROLLED), why)
    if (isRepeated) {
      // Its refusals must not make the next session wait.
      await host.advanceClock(2 * LOCKOUT_SECONDS)
      continue
    }
    assert.equal(codes.at(-1), NOT_ENROLLED.code, why)
    return sessions
  }
}

/** Plays face and passkey to the end, and returns the webhook that the host gets. */
async function signIn({ visit, camera }: Person, created: CreatedVerification): Promise<VerificationWebhook> {
  await agree(visit, created)
  assert.equal((await showFace(visit, camera)).next, 'passkey')
  const since = visit.screens.length
  await visit.page.locator('[data-mode="get"]').waitFor()
  await visit.act('passkey')
  await visit.saw(['done'], since)
  const says = await host.webhookOf(created)
  // The page leaves after a moment. Wait for that, so that it does not happen while the next link opens.
  await visit.page.waitForURL((url) => url.origin === new URL(host.backUrl).origin)
  return says
}

/** What the page said about the face in these sessions: in all their tries, in order, and each once. */
function claimsOf({ seals }: Person, ...sessions: CreatedVerification[]): string[] {
  const sealed = sessions.flatMap(({ sessionId }) => seals.of(sessionId))
  const claims = sealed.map(({ face, local }) => {
    const compared = local && (local.hit ? 'a hit' : 'a miss')
    return [face && 'a vector', compared].filter((part) => part !== undefined).join(' and ')
  })
  return [...new Set(claims)]
}

const NOT_ENROLLED = { code: -36, message: 'User not enrolled' }
const INCONCLUSIVE = { code: -32, message: 'Liveness not confirmed' }

/** The documented body of a SIGN-IN that failed with this. */
function failureOf({ sessionId }: CreatedVerification, error: { code: number; message: string }) {
  const { code, message } = error
  const ours = { transactionId: TRANSACTION, type: 'SIGN-IN', outcome: 'FAILED', livemode: false }
  return { sessionId, status: 'error', message, errors: [error], errorCodes: [code], ...ours }
}

function successOf({ sessionId }: CreatedVerification, { puid, guid, identityInformation }: VerificationWebhook) {
  assert.match(identityInformation?.verificationDate ?? '', /^\d{13}$/)
  assert.ok(puid && guid && puid !== guid)
  const ours = { transactionId: TRANSACTION, outcome: 'SUCCEEDED', livemode: false }
  return { sessionId, status: 'SUCCESS', message: 'Ok', puid, guid, identityInformation, errors: [], ...ours }
}

/** The page may wait there until it is let go; it would leave for the shop by itself after a moment. */
function holdWayBack({ device }: Visitor): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  const shop = new URL(host.backUrl).origin
  device.proxy.hold = ({ origin }) => (origin === shop ? promise : undefined)
  return resolve
}

async function isSentBack({ visit: { page } }: Visitor, { sessionId, codeHash }: VerificationWebhook): Promise<void> {
  const back = new URL(host.backUrl)
  await page.waitForURL((url) => url.origin === back.origin)
  const { pathname, searchParams } = new URL(page.url())
  assert.equal(pathname, back.pathname)
  const { code, ...others } = Object.fromEntries(searchParams)
  assert.deepEqual(others, { state: 'K7', sessionId, status: 'SUCCESS' })
  assert.ok(await codeMatches(code, codeHash))
}

/** One token is kept, with keys that cannot be read; nothing that a face could be known by, and nothing of the session. */
async function checkKept({ visit }: Person, vector: string): Promise<void> {
  const all = await readKept(visit.page)
  const [cached, kept] = [true, false].map((isCached) => all.filter(({ kind }) => (kind === 'cached') === isCached))
  for (const { content } of cached ?? []) assert.match(new URL(content).pathname, /^\/launch\//)
  const described = (kept ?? []).map(({ at, kind, content }) =>
    kind === 'CryptoKey' ? `${at}: ${content}` : `${at}: ${content.length}`,
  )
  const TOKEN = 'ostiary-local/tokens'
  assert.deepEqual(described.sort(), [
    `${TOKEN}.atMs: 13`,
    `${TOKEN}.keys.privateKey: private`,
    `${TOKEN}.keys.publicKey.crv: 5`,
    `${TOKEN}.keys.publicKey.kty: 2`,
    `${TOKEN}.keys.publicKey.x: 43`,
    `${TOKEN}.keys.publicKey.y: 43`,
    `${TOKEN}.sealKey: secret`,
    `${TOKEN}.sealed: ${TOKEN_BYTES}`,
    `${TOKEN}.version: 1`,
  ])
  const bytes = Buffer.from(vector, 'base64url').toString('latin1')
  assert.equal(bytes.length, VECTOR_BYTES)
  for (const { at, content } of all)
    assert.ok(!content.includes(vector) && !content.includes(bytes), `${at} has the vector`)
}

/** A picture that a browser can show, of the camera's shape. */
async function checkPortrait({ device }: Person, base64: string): Promise<void> {
  assert.deepEqual([...Buffer.from(base64, 'base64').subarray(0, 3)], [0xff, 0xd8, 0xff], 'a JPEG')
  const page = await device.page()
  const size = await page.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/jpeg;base64,${base64}'
    await image.decode()
    return [image.naturalWidth, image.naturalHeight]
  })()`)
  assert.deepEqual(size, [640, 480])
  await page.close()
}
