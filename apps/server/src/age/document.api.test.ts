import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgeResult, TenantSettingsPatch } from '@ostiary/contract'
import { runFlow, type SimulatedDocument, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { ALONE, BOTH, FIRST } from './testing/document-steps.ts'
import { createAgeHost, endedBody, type Host, openBody } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

interface Visit {
  host?: Host
  person?: Partial<SimulatedPerson>
}

/** A user who shows a document where the page asks for one. */
async function shown(body: object, document: SimulatedDocument = {}, { host: who = host, person = {} }: Visit = {}) {
  const created = await who.create(body)
  const state = await fixture.visit(created.sessionId, { document, ...person })
  return { created, state, result: await who.result(created.token) }
}
const verdictOf = ({ sessionStatus, flowStatus, errors, result }: AgeResult) => ({
  status: sessionStatus,
  flowStatus,
  errors,
  faceMatch: result.faceMatch,
})
const withSettings = (settings: TenantSettingsPatch) => fixture.newHost({ settings })

describe('a document after the face', () => {
  test('[C-002] decides the age, and the whole result says so', async () => {
    const { created, state, result } = await shown(BOTH)
    assert.equal(state.state, 'COMPLETED')
    const { riskEvaluation, endedAt, consent, document, ...rest } = result
    const {
      riskEvaluation: _risk,
      endedAt: _end,
      consent: _consent,
      ...expected
    } = endedBody(created, {
      sessionStatus: 'AGE_ABOVE_THRESHOLD',
      status: 'AGE_ABOVE_THRESHOLD',
      flowStatus: 'COMPLETED',
      result: {
        confidenceScore: result.result.confidenceScore ?? assert.fail('they were compared'),
        faceMatch: true,
        documentAge: { thresholdResult: 'AGE_ABOVE_THRESHOLD' },
        facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD' },
      },
      thresholds: { ...openBody(created).thresholds, documentAgeThreshold: 18 },
      outcome: 'SUCCEEDED',
      assurance: { level: 'document', method: 'on-device reading of an identity document' },
    })
    assert.deepEqual(rest, expected)
    assert.ok(document)
    const { equalFrames, confidence, consent: agreed, ...facts } = document
    assert.deepEqual(facts, {
      type: 'passport',
      format: 'TD3',
      expiry: 'valid',
      checksHeld: ['number', 'birth', 'expiry', 'composite'],
    })
    assert.ok(equalFrames >= 2 && confidence > 0.9)
    assert.deepEqual([agreed.version, agreed.language], ['1', 'en'])
    assert.ok(endedAt && consent?.accepted)
    assert.deepEqual([riskEvaluation.recommendation, riskEvaluation.flags], ['ALLOW', []])
  })

  test('[C-022] is checked against documentAgeThreshold, above, at and below it', async () => {
    for (const [ageYears, status] of [
      [19, 'AGE_ABOVE_THRESHOLD'],
      [18, 'AGE_AT_THRESHOLD'],
      [17, 'AGE_BELOW_THRESHOLD'],
    ] as const) {
      const { result } = await shown(BOTH, { ageYears })
      assert.deepEqual([result.sessionStatus, result.result.documentAge], [status, { thresholdResult: status }])
    }
  })

  test('[C-019] [C-042] [C-043] [C-046] gives its age in the format that the host asks for, and no other', async () => {
    const thresholdResult = 'AGE_ABOVE_THRESHOLD'
    for (const [format, expected, age] of [
      ['threshold', { thresholdResult }, undefined],
      ['exact', { exact: 34 }, 34],
      ['both', { thresholdResult, exact: 34 }, 34],
    ] as const) {
      const { result } = await shown({ ...BOTH, documentAgeReturnFormat: format }, { ageYears: 34 })
      assert.deepEqual([result.result.documentAge, result.result.age], [expected, age], format)
    }
  })

  test('[C-021] [C-040] [C-041] is compared with the face: the score, and whether it reaches the threshold', async () => {
    const { result } = await shown(BOTH)
    assert.ok((result.result.confidenceScore ?? 0) >= 0.6)
    const strict = await shown({ ...BOTH, faceMatchThreshold: 0.95 })
    assert.deepEqual(verdictOf(strict.result), {
      status: 'AGE_UNKNOWN',
      flowStatus: 'COMPLETED',
      errors: [-9, -19],
      faceMatch: false,
    })
    const other = await shown(BOTH, { fault: 'wrong-person' })
    assert.deepEqual([other.result.sessionStatus, other.result.result.faceMatch], ['AGE_UNKNOWN', false])
    assert.ok((other.result.result.confidenceScore ?? 1) < 0.42)
    assert.equal(other.result.outcome, 'FAILED')
  })
})

describe('the order of the steps', () => {
  test('[C-018] [C-027] the document comes first where it is named first, and the face is compared with it', async () => {
    const steps: string[] = []
    const { result } = await shown(FIRST, {}, { person: { onStep: (step) => steps.push(step) } })
    const at = (words: string) => steps.findIndex((step) => step.includes(words))
    assert.ok(at('sends facts') > 0 && at('sends facts') < at('try 1'), steps.join('; '))
    assert.deepEqual(verdictOf(result), {
      status: 'AGE_ABOVE_THRESHOLD',
      flowStatus: 'COMPLETED',
      errors: [],
      faceMatch: true,
    })
  })

  test('[C-018] the face comes first where it is named first', async () => {
    const steps: string[] = []
    await shown(BOTH, {}, { person: { onStep: (step) => steps.push(step) } })
    const at = (words: string) => steps.findIndex((step) => step.includes(words))
    assert.ok(at('try 1') > 0 && at('try 1') < at('sends facts'), steps.join('; '))
  })

  test('a document of somebody else ends without a verdict when it comes first too', async () => {
    const { result } = await shown(FIRST, { fault: 'wrong-person' })
    assert.deepEqual(verdictOf(result), {
      status: 'AGE_UNKNOWN',
      flowStatus: 'COMPLETED',
      errors: [-9, -19],
      faceMatch: false,
    })
  })

  test('[C-040] [C-041] a document alone decides alone: nothing is compared, so neither field is there', async () => {
    const { result } = await shown(ALONE, { format: 'AAMVA', ageYears: 17 })
    assert.deepEqual(
      [result.sessionStatus, result.result],
      ['AGE_BELOW_THRESHOLD', { documentAge: { thresholdResult: 'AGE_BELOW_THRESHOLD' } }],
    )
    assert.deepEqual([result.document?.type, result.document?.format], ['drivers_license', 'AAMVA'])
  })
})

describe('a step-up', () => {
  test('[C-024] after an estimate below the threshold: the document decides', async () => {
    const body = { stepUpEnabled: true, documentAgeThreshold: 18 }
    const { result } = await shown(body, { ageYears: 22 }, { person: { ageYears: 20 } })
    assert.equal(result.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual(result.result.facialAgeEstimation, { thresholdResult: 'AGE_BELOW_THRESHOLD' })
    assert.equal(result.assurance.level, 'document')
  })

  test('[C-025] not below it: no document is asked for, and none is in the result', async () => {
    const { result } = await shown({ stepUpEnabled: true, documentAgeThreshold: 18 })
    assert.deepEqual([result.sessionStatus, result.document], ['AGE_ABOVE_THRESHOLD', null])
    assert.equal(result.assurance.level, 'estimate')
  })

  test('within the margin that the tenant has set, the document decides', async () => {
    const careful = await withSettings({ faceAgeMarginYears: 10 })
    const body = { stepUpEnabled: true, documentAgeThreshold: 18 }
    const { result } = await shown(body, {}, { host: careful, person: { ageYears: 35 } })
    assert.deepEqual([result.sessionStatus, result.assurance.level], ['AGE_ABOVE_THRESHOLD', 'document'])
  })

  /** A second device without a handoff is a strong behavioural flag. */
  async function inDoubt(body: object, asking = host) {
    const created = await asking.create({ stepUpEnabled: true, documentAgeThreshold: 18, ...body })
    const { device, clock } = await fixture.newDevice(created.sessionId)
    await device.open()
    const stranger = await fixture.newDevice(created.sessionId)
    await assert.rejects(stranger.device.open(), { code: 'DEVICE_MISMATCH' })
    await runFlow(device, { clock, random: seededRandom(1), ageYears: 42, document: {} })
    const { sessionStatus, assurance, riskEvaluation } = await asking.result(created.token)
    assert.equal(sessionStatus, 'AGE_ABOVE_THRESHOLD')
    return { level: assurance.level, flags: riskEvaluation.flags, advice: riskEvaluation.recommendation }
  }
  const ASKED = { level: 'document', flags: ['BH_DEVICE_SWITCH'], advice: 'REVIEW' }
  const LEFT = { level: 'estimate', flags: ['BH_AGE_IN_DOUBT', 'BH_DEVICE_SWITCH'], advice: 'REVIEW' }

  test('[C-025] in doubt no document is asked for, and the result says so by a flag', async () => {
    assert.deepEqual(await inDoubt({}), LEFT)
  })

  test('in doubt the document decides where the tenant or the session asks for it; the session has the last word', async () => {
    const careful = await withSettings({ documentInDoubt: true })
    assert.deepEqual(await inDoubt({}, careful), ASKED)
    assert.deepEqual(await inDoubt({ documentInDoubt: true }), ASKED)
    assert.deepEqual(await inDoubt({ documentInDoubt: false }, careful), LEFT)
  })

  test('[C-026] is never asked for where the host did not enable it', async () => {
    const { result } = await shown({}, {}, { person: { ageYears: 20 } })
    assert.equal(result.sessionStatus, 'AGE_BELOW_THRESHOLD')
    assert.ok(!('document' in result))
  })
})

describe('a document that does not count', () => {
  for (const [fault, errors, tries] of [
    ['expired', [-26, -19], 3],
    ['unreadable', [-27, -19], 3],
    ['unsupported', [-28, -19], 3],
    ['no-birth-date', [-30, -19], 3],
    ['tampered', [-29], 1],
  ] as const) {
    test(`${fault}: ends with ${errors.join(' and ')} after ${tries}, without a verdict, and costs no try of the face`, async () => {
      const asked: string[] = []
      const onStep = (step: string) => void (step.startsWith('is asked for a document') && asked.push(step))
      const { state, result } = await shown(BOTH, { fault }, { person: { onStep } })
      assert.deepEqual([result.sessionStatus, result.flowStatus, result.errors], ['AGE_UNKNOWN', 'COMPLETED', errors])
      assert.deepEqual([result.result, result.document], [{}, null])
      assert.deepEqual([asked.length, state.attempt, state.attemptsLeft], [tries, 1, 2])
    })
  }

  test('minor: is a verdict below the threshold', async () => {
    const { result } = await shown(BOTH, { fault: 'minor' })
    assert.deepEqual([result.sessionStatus, result.errors], ['AGE_BELOW_THRESHOLD', []])
  })

  test('screen: raises a flag and changes no verdict', async () => {
    const { result } = await shown(BOTH, { fault: 'screen' })
    assert.equal(result.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.deepEqual([result.riskEvaluation.flags, result.riskEvaluation.score], [['DO_SCREEN'], 30])
  })
})

describe('what the tenant has set', () => {
  test('a type that is not accepted is refused (-28)', async () => {
    const strict = await withSettings({ documentTypes: ['national_id'] })
    assert.deepEqual((await shown(ALONE, {}, { host: strict })).result.errors, [-28, -19])
    assert.equal((await shown(ALONE, { format: 'TD1' }, { host: strict })).result.outcome, 'SUCCEEDED')
  })

  test('the page gets the rules, and the host’s other way', async () => {
    const own = await withSettings({
      documentTypes: ['passport'],
      documentExpiryGraceDays: 30,
      documentReuseCheck: true,
      alternativeUrl: 'https://shop.example/other-way',
    })
    const created = await own.create({ ...ALONE, documentAgeReturnFormat: 'both' })
    const { device } = await fixture.newDevice(created.sessionId)
    const { document, alternativeUrl } = await device.open()
    assert.deepEqual(document, { when: 'always', acceptedTypes: ['passport'], ageFormat: 'both', reuseCheck: true })
    assert.equal(alternativeUrl, 'https://shop.example/other-way')
    await device.consent(true)
    const { nonce, reuseKey, expiresAt, ...step } = await device.documentStep()
    assert.deepEqual(step, {
      attempt: 1,
      attemptsLeft: 3,
      today: fixture.harness.clock.now().toISOString().slice(0, 10),
      acceptedTypes: ['passport'],
      expiryGraceDays: 30,
      age: { threshold: 18, format: 'both' },
      match: null,
    })
    assert.match(reuseKey ?? '', /^[A-Za-z0-9_-]{43}$/)
    assert.equal(Date.parse(expiresAt) - fixture.harness.clock.now().getTime(), 900_000)
    assert.notEqual((await device.documentStep()).nonce, nonce, 'asked for again it costs nothing')
  })
})
