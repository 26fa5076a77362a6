/** Captures that were invented without a camera, with the released model’s public id and hash, in live sessions. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RELEASED_MODELS, type RiskEvaluation, writeIndicators } from '@ostiary/contract'
import { createDevice } from '@ostiary/device'
import { createSimulatedClock, runFlow, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { createFaces } from '../biometrics/testing/faces.ts'
import { isPurged } from '../sessions/index.ts'
import { createVerificationHost } from './testing/fixture.ts'

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1'
const LAPTOP =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const NO_ALLOW = ['REVIEW', 'BLOCK']
const faces = createFaces(41)

interface Forger {
  userAgent: string
  platform: 'mobile' | 'desktop'
  headers?: Record<string, string>
  person?: Partial<SimulatedPerson>
  camera?: { width: number; height: number }
  /** After the session was opened. */
  opened?: () => Promise<void>
}
const BROWSER = { origin: 'https://id.example', 'sec-fetch-site': 'same-origin' }
const PLAUSIBLE = { indicators: writeIndicators(new Set()), browser: { kind: 'ordinary' } } as const

/** The simulated device as it is, and four forgers who take more care. */
const FORGERS = {
  'without browser data': { userAgent: IPHONE, platform: 'mobile' },
  'without browser data, with the headers of a browser': { userAgent: IPHONE, platform: 'mobile', headers: BROWSER },
  'with 21 zeros of an iPhone': { userAgent: IPHONE, platform: 'mobile', headers: BROWSER, person: PLAUSIBLE },
  'with plausible data and without a browser': { userAgent: LAPTOP, platform: 'desktop', person: PLAUSIBLE },
  'with everything but a camera': { userAgent: LAPTOP, platform: 'desktop', headers: BROWSER, person: PLAUSIBLE },
} as const satisfies Record<string, Forger>

const { fixture, host } = await createVerificationHost(
  { LAUNCH_URL: 'https://id.example/launch/' },
  { livemode: true, settings: { clientCredentials: 'never' } },
)
const ageHost = await fixture.age.newHost({ livemode: true })
const address = fixture.harness.app.server.address()
assert.ok(typeof address === 'object' && address)
const baseUrl = `http://127.0.0.1:${address.port}`

/** Takes as long as a capture takes, so that the server’s own clock finds nothing. */
async function forge(sessionId: string, seed: number, forger: Forger, person: Partial<SimulatedPerson>) {
  const { clock } = fixture.harness
  clock.advance(20_000)
  const base = { nowMs: () => clock.now().getTime(), monotonicMs: () => clock.monotonicMs() }
  const filmed = createSimulatedClock(base, { wait: async (ms) => clock.advance(ms) })
  const { userAgent, platform, headers = {}, camera, opened } = forger
  const device = await createDevice({
    ...{ baseUrl, sessionId, platform, clock: filmed, userAgent },
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } }),
  })
  const model = RELEASED_MODELS.at(-1)
  assert.ok(model)
  const shared = { clock: filmed, random: seededRandom(seed), ageYears: null, model }
  const forging: typeof device = {
    ...device,
    async open(handoffCode) {
      const session = await device.open(handoffCode)
      await opened?.()
      return session
    },
    submit: (capture) => device.submit(camera ? { ...capture, metadata: { camera } } : capture),
  }
  return runFlow(forging, { ...shared, ...forger.person, ...person })
}

async function forgeAge(seed: number, forger: Forger): Promise<RiskEvaluation> {
  const { sessionId, token } = await ageHost.create({ ageThreshold: 25, enableDesktop: true })
  await forge(sessionId, seed, forger, { ageYears: 41 })
  const { sessionStatus, riskEvaluation } = await ageHost.result(token)
  assert.equal(sessionStatus, 'AGE_ABOVE_THRESHOLD', 'the verdict is the device’s; the recommendation is ours')
  return riskEvaluation
}

async function forgeFace(type: 'ENROLL' | 'SIGN-IN', seed: number, forger: Forger, vector: readonly number[]) {
  const { sessionId } = await host.create(type, { enableDesktop: true, callback: { url: 'https://shop.example/hook' } })
  await forge(sessionId, seed, forger, { vector: [...vector] })
  const webhook = await host.webhook(sessionId)
  assert.equal(webhook.status, 'SUCCESS', JSON.stringify(webhook))
  return webhook
}

for (const [name, forger] of Object.entries<Forger>(FORGERS)) {
  describe(`captures ${name}`, () => {
    test('10 age sessions and 10 of area D: none gets ALLOW', async () => {
      const evaluations: RiskEvaluation[] = []
      for (let seed = 1; seed <= 10; seed++) evaluations.push(await forgeAge(seed, forger))
      for (let seed = 1; seed <= 5; seed++) {
        const face = faces.person()
        const enrolled = await forgeFace('ENROLL', seed, forger, face)
        evaluations.push(enrolled.riskEvaluation)
        evaluations.push((await forgeFace('SIGN-IN', seed, forger, faces.sample(face, 0.9))).riskEvaluation)
      }
      assert.equal(evaluations.length, 20)
      for (const { recommendation, flags } of evaluations) {
        assert.ok(NO_ALLOW.includes(recommendation), recommendation)
        assert.deepEqual(flags, ['BH_NO_BROWSER_DATA'])
      }
    })
  })
}

test('in area D the flag stands in flags only: signals.behavioral is null, and indicators stay absent', async () => {
  const { riskEvaluation, ...webhook } = await forgeFace('ENROLL', 90, FORGERS['without browser data'], faces.person())
  assert.deepEqual(riskEvaluation, {
    score: 40,
    level: 'MEDIUM',
    recommendation: 'REVIEW',
    flags: ['BH_NO_BROWSER_DATA'],
    signals: { behavioral: null, browser: null },
    policyVersion: '4',
  })
  assert.equal('indicators' in webhook, false)
})

test('what a rewritten client can still do: it also invents a camera, and gets ALLOW', async () => {
  // docs/threat-model.md says so. When this fails because something new stops such a client, change that text too.
  const { sessionId, token } = await ageHost.create({ ageThreshold: 25, enableDesktop: true })
  await forge(
    sessionId,
    91,
    { ...FORGERS['with everything but a camera'], camera: { width: 640, height: 480 } },
    { ageYears: 41 },
  )
  const { riskEvaluation } = await ageHost.result(token)
  assert.equal(riskEvaluation.recommendation, 'ALLOW')
})

test('a page that the last release has opened sends no camera, and its capture ends as it began', async () => {
  const { sessionId, token } = await ageHost.create({ ageThreshold: 25, enableDesktop: true })
  const forgetPage = async () => {
    const { sessions } = fixture.harness.wire
    await sessions.service.whileLocked(sessionId, async (tx, session) => {
      assert.ok(!isPurged(session) && session.progress?.holder)
      const { tellsCamera: _none, ...holder } = session.progress.holder
      await sessions.service.save(tx, session, { state: session.state, progress: { ...session.progress, holder } })
    })
  }
  const page = { ...FORGERS['with everything but a camera'], opened: forgetPage }
  await forge(sessionId, 92, page, { ageYears: 41 })
  const { riskEvaluation } = await ageHost.result(token)
  assert.deepEqual([riskEvaluation.recommendation, riskEvaluation.flags], ['ALLOW', []])
})
