import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { TOKEN_BUDGET, type TokenVerdict } from '@ostiary/contract'
import { budgetStore } from './shares/budget-store.ts'
import { createSubject, type EvaluatedProbe, evaluateFace, newId, type Subject } from './testing/device.ts'
import { faceOf, sameFace } from './testing/faces.ts'
import { createHarness } from './testing/harness.ts'
import { DAY_MS } from './testing/manual-clock.ts'

const face = faceOf(11)
const harness = await createHarness()
const material = await createMaterial()
after(() => harness.close())

/** A token with its probes. Made once: in another realm the same bytes are another token. */
interface Material {
  subject: Subject
  enrolment: EvaluatedProbe
  genuine: EvaluatedProbe
  other: EvaluatedProbe
  /** What no honest matcher sends. */
  hostile: EvaluatedProbe
}

async function createMaterial(): Promise<Material> {
  const subject = await createSubject(face)
  const enrolment = await evaluateFace(subject, face, { isEnrolment: true })
  const genuine = await evaluateFace(subject, sameFace(face, 2))
  const other = await evaluateFace(subject, faceOf(3))
  const evaluation = genuine.evaluation.map((byte, index) => (index > 100_000 ? byte ^ 1 : byte))
  return { subject, enrolment, genuine, other, hostile: { ...genuine, evaluation } }
}

/** A new person with a confirmed token. */
async function enrolled({ realm = newId(), account = newId(), of = material } = {}) {
  const person = { ...of.subject, realm, account }
  assert.equal(await harness.caller.enrol(person, of.enrolment), 'accept')
  assert.equal(await harness.caller.confirm(person), true)
  return { person, genuine: of.genuine, other: of.other, hostile: of.hostile }
}

const compare = (person: Subject, evaluated: EvaluatedProbe) => harness.caller.compare(person, evaluated)
const atOnce = (count: number, work: () => Promise<TokenVerdict>) =>
  Promise.all(Array.from({ length: count }, () => work()))
const count = (verdicts: readonly TokenVerdict[], verdict: TokenVerdict) =>
  verdicts.filter((each) => each === verdict).length

const daysAgo = (days: number) => new Date(harness.clock.now().getTime() - days * DAY_MS).toISOString().slice(0, 10)

/** Sets what was counted so far, where counting would take long. */
const setCounted = (person: Subject, column: string, value: unknown) =>
  harness.query(`update key_shares set ${column} = $2 where token_id = $1`, [person.tokenId, value])

describe('evaluations of a token', () => {
  test('the 51st of a day is locked, although all before it were accepted, and the next day is open', async () => {
    const { person, genuine } = await enrolled()
    // The enrolment was the first.
    for (let n = 2; n <= TOKEN_BUDGET.evaluationsPerDay; n++)
      assert.equal(await compare(person, genuine), 'accept', `${n}`)
    const counted = await harness.countedFor(person)
    assert.deepEqual([counted.evaluations, counted.failures], [50, 0])
    assert.equal(await compare(person, genuine), 'locked')
    assert.deepEqual(await harness.countedFor(person), counted, 'a locked try was counted')
    harness.clock.advance(DAY_MS)
    assert.equal(await compare(person, genuine), 'accept')
    assert.equal((await harness.countedFor(person)).evaluationsThatDay, 1)
  })

  test('of 20 at once with 5 left, exactly 5 are judged', async () => {
    const { person, genuine } = await enrolled()
    await setCounted(person, 'evaluations_that_day', 45)
    const verdicts = await atOnce(20, () => compare(person, genuine))
    assert.deepEqual([count(verdicts, 'accept'), count(verdicts, 'locked')], [5, 15])
    const { evaluations, evaluationsThatDay, failures } = await harness.countedFor(person)
    assert.deepEqual([evaluations, evaluationsThatDay, failures], [6, 50, 0])
  })

  test('of 20 statements at once with 5 left, exactly 5 may go on', async () => {
    const { person } = await enrolled()
    await setCounted(person, 'evaluations_that_day', 45)
    const nonces = await Promise.all(Array.from({ length: 20 }, () => harness.caller.nonceFor(person)))
    const now = harness.clock.now()
    const spent = await Promise.all(
      nonces.map((keyHolderNonce) => budgetStore.spend(harness.db, { ...person, keyHolderNonce }, now)),
    )
    assert.equal(spent.filter((each) => each?.isAllowed).length, 5)
    assert.equal(spent.filter((each) => each?.isAllowed === false).length, 15)
    const { evaluationsThatDay, failures } = await harness.countedFor(person)
    assert.deepEqual([evaluationsThatDay, failures], [50, 5])
  })

  test('of 20 statements at once with one nonce, one may go on', async () => {
    const { person } = await enrolled()
    const keyHolderNonce = await harness.caller.nonceFor(person)
    const now = harness.clock.now()
    const spend = () => budgetStore.spend(harness.db, { ...person, keyHolderNonce }, now)
    const spent = await Promise.all(Array.from({ length: 20 }, spend))
    assert.equal(spent.filter((each) => each !== undefined).length, 1)
    assert.equal((await harness.countedFor(person)).evaluations, 2)
  })

  test('the 5,001st is locked for ever', async () => {
    const { person, genuine } = await enrolled()
    await setCounted(person, 'evaluations', 4_999)
    assert.equal(await compare(person, genuine), 'accept')
    assert.equal(await compare(person, genuine), 'locked')
    harness.clock.advance(2 * DAY_MS)
    assert.equal(await compare(person, genuine), 'locked')
  })

  test('after 24 months the token is locked', async () => {
    const { person, genuine } = await enrolled()
    const created = new Date(harness.clock.now())
    created.setUTCMonth(created.getUTCMonth() - 24)
    await setCounted(person, 'created_at', new Date(created.getTime() + DAY_MS))
    assert.equal(await compare(person, genuine), 'accept')
    await setCounted(person, 'created_at', new Date(created.getTime() - DAY_MS))
    assert.equal(await compare(person, genuine), 'locked')
  })
})

describe('failures of a person', () => {
  test('after ten in a day the owner is locked too, until the next day', async () => {
    const { person, genuine, other } = await enrolled()
    for (let n = 1; n <= TOKEN_BUDGET.failuresPerDay; n++) assert.equal(await compare(person, other), 'reject', `${n}`)
    assert.equal(await compare(person, other), 'locked')
    assert.equal(await compare(person, genuine), 'locked')
    assert.equal((await harness.countedFor(person)).failures, 10)
    harness.clock.advance(DAY_MS)
    assert.equal(await compare(person, genuine), 'accept')
  })

  test('of 20 wrong faces at once, exactly ten are judged', async () => {
    const { person, other } = await enrolled()
    const verdicts = await atOnce(20, () => compare(person, other))
    assert.deepEqual([count(verdicts, 'reject'), count(verdicts, 'locked')], [10, 10])
    const { evaluations, failures } = await harness.countedFor(person)
    assert.deepEqual([evaluations, failures], [11, 10])
  })

  test('after 60 in 30 days the person is locked until the oldest are 30 days old', async () => {
    const { person, genuine, other } = await enrolled()
    const days = [1, 2, 3, 4, 5].flatMap((ago) => Array(ago === 5 ? 10 : 12).fill(daysAgo(ago)))
    await harness.query('update persons set failed_on = $2::date[] where account = $1', [person.account, days])
    for (let n = 59; n <= 60; n++) assert.equal(await compare(person, other), 'reject', `${n}`)
    assert.equal((await harness.countedFor(person)).failures, 60)
    assert.equal(await compare(person, genuine), 'locked')
    harness.clock.advance(24 * DAY_MS)
    assert.equal(await compare(person, genuine), 'locked')
    harness.clock.advance(DAY_MS)
    assert.equal(await compare(person, genuine), 'accept')
    assert.equal((await harness.countedFor(person)).failures, 50)
  })

  test('they are carried over to a renewed token and stay after the old one is erased', async () => {
    const { person, other } = await enrolled()
    for (let n = 1; n <= 9; n++) await compare(person, other)
    const { realm, account } = person
    const renewed = await enrolled({ realm, account, of: await createMaterial() })
    await harness.caller.ask('/v1/erasures', { realm: person.realm, tokenId: person.tokenId })
    assert.equal((await harness.countedFor(renewed.person)).failures, 9)
    assert.equal(await compare(renewed.person, renewed.other), 'reject')
    assert.equal(await compare(renewed.person, renewed.genuine), 'locked')
    const again = await createSubject(face, { realm: person.realm, account: person.account })
    const evaluated = await evaluateFace(again, face, { isEnrolment: true })
    assert.equal(await harness.caller.enrol(again, evaluated), 'locked', 'an enrolment is a try too')
  })

  test('an accept takes back the failure that was counted in advance, and no other', async () => {
    const { person, genuine, other } = await enrolled()
    await compare(person, other)
    await compare(person, other)
    const verdicts = await atOnce(8, () => compare(person, genuine))
    assert.equal(count(verdicts, 'accept'), 8)
    assert.equal((await harness.countedFor(person)).failures, 2)
  })

  test('tries without the device’s signature never lock the owner, and a locked token says nothing to them', async () => {
    const { person, genuine, other } = await enrolled()
    const stranger = await createSubject(face)
    const unsigned = () => harness.caller.compare(person, other, { signWith: stranger.devicePrivateKey })
    assert.equal(count(await atOnce(80, unsigned), 'reject'), 80)
    assert.equal(await compare(person, genuine), 'accept')
    await setCounted(person, 'frozen_at', harness.clock.now())
    assert.equal(await unsigned(), 'reject')
    assert.equal(await compare(person, genuine), 'locked')
  })
})

describe('attack events', () => {
  test('the third freezes the token, warns the operator and shows in the metrics; the owner is locked for ever', async () => {
    const { person, genuine, hostile } = await enrolled()
    const frozenBefore = await harness.metric('tokens_frozen_total')
    for (let n = 1; n <= TOKEN_BUDGET.attackEvents; n++) {
      assert.deepEqual((await harness.countedFor(person)).isFrozen, false)
      assert.equal(await compare(person, hostile), 'reject')
    }
    const { attackEvents, isFrozen, failures } = await harness.countedFor(person)
    assert.deepEqual([attackEvents, isFrozen, failures], [3, true, 3])
    assert.equal(await compare(person, genuine), 'locked')
    harness.clock.advance(40 * DAY_MS)
    assert.equal(await compare(person, genuine), 'locked')
    assert.equal(await harness.metric('tokens_frozen_total'), frozenBefore + 1)
    assert.ok((await harness.metric('frozen_tokens')) >= 1)
    assert.match(harness.logged(), /"level":"warn".*a token was frozen/)
  })

  test('of ten at once, three are judged and the others find the token frozen', async () => {
    const { person, hostile } = await enrolled()
    const before = await harness.metric('attack_events_total')
    const verdicts = await atOnce(10, () => compare(person, hostile))
    assert.deepEqual([count(verdicts, 'reject'), count(verdicts, 'locked')], [3, 7])
    assert.equal((await harness.countedFor(person)).attackEvents, 3)
    assert.equal((await harness.metric('attack_events_total')) - before, 3)
  })

  test('a probe that is malformed or carries nothing secret is one', async () => {
    const { person, genuine } = await enrolled()
    const cut = genuine.probe.subarray(0, -1)
    const transparent = Uint8Array.from(genuine.probe, (byte, index) => (index < 20 + 11_264 ? byte : 0))
    for (const [kind, probe] of Object.entries({ malformed: cut, transparent })) {
      const before = await harness.metric('attack_events_total', { attack: kind })
      assert.equal(await compare(person, { ...genuine, probe }), 'reject')
      assert.equal(await harness.metric('attack_events_total', { attack: kind }), before + 1, kind)
    }
    assert.equal((await harness.countedFor(person)).attackEvents, 2)
    assert.equal(await compare(person, genuine), 'accept')
  })

  test('without the device’s signature they count nothing', async () => {
    const { person, hostile } = await enrolled()
    const stranger = await createSubject(face)
    for (let n = 0; n < 4; n++) await harness.caller.compare(person, hostile, { signWith: stranger.devicePrivateKey })
    assert.equal((await harness.countedFor(person)).attackEvents, 0)
  })
})
