/** A matcher that cheats against a key holder that does not (review, finding 2 and test 20). It has the key of the service, its share and the token. */
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { KEY_HOLDER_PATHS, TOKEN_BUDGET } from '@ostiary/contract'
import { evaluate, quantise, TOKEN_PARAMETERS } from '@ostiary/token'
import { withConstantTests, withForeignTest, withShift } from '@ostiary/token/testing'
import { comparisonFrame, createSubject, type EvaluatedProbe, evaluateFace, type Subject } from './testing/device.ts'
import { faceOf, sameFace } from './testing/faces.ts'
import { createHarness } from './testing/harness.ts'

const { scale } = TOKEN_PARAMETERS
const LARGEST = Math.floor((6 * scale) / Math.SQRT2)
const face = faceOf(21)
const x = quantise(face)
let person: Subject
/** Of a sign-in of the person, which the device has signed. */
let genuine: EvaluatedProbe
const harness = await createHarness()
beforeEach(async () => {
  person = await createSubject(face)
  await harness.caller.enrolPerson(person, face)
  genuine = await evaluateFace(person, sameFace(face, 22))
})
after(() => harness.close())

const compare = (evaluation: Uint8Array) => harness.caller.compare(person, { ...genuine, evaluation })
/** Accepted if number `index` of the enrolled vector is at most `value`. */
const ask = async (index: number, value: number) =>
  compare(
    await withForeignTest(withConstantTests(genuine.evaluation), person.enrolled, { index, shift: LARGEST - value }),
  )

describe('a foreign product in a short test', () => {
  test('is a question about the enrolled vector; a yes is an evaluation, a no an attack event, and the third no is the last answer', async () => {
    assert.equal(await ask(0, x[0] ?? 0), 'accept')
    for (let no = 1; no <= TOKEN_BUDGET.attackEvents; no++) {
      assert.equal(await ask(no, (x[no] ?? 0) - 1), 'reject')
      const { attackEvents, isFrozen } = await harness.countedFor(person)
      assert.deepEqual([attackEvents, isFrozen], [no, no === TOKEN_BUDGET.attackEvents])
    }
    const counted = await harness.countedFor(person)
    assert.equal(counted.evaluations, 5, 'the enrolment, a yes and three no')
    assert.equal(await ask(0, x[0] ?? 0), 'locked')
    assert.equal(await compare(genuine.evaluation), 'locked')
    assert.deepEqual(await harness.countedFor(person), counted)
  })

  test('needs a sign-in that the device has signed: one signature gives one answer', async () => {
    const other = await createSubject(face)
    const signedByOther = { signWith: other.devicePrivateKey }
    const asked = await withForeignTest(withConstantTests(genuine.evaluation), person.enrolled, { index: 0, shift: 0 })
    const sent = { ...genuine, evaluation: asked }
    assert.equal(await harness.caller.compare(person, sent, signedByOther), 'reject')
    assert.equal((await harness.countedFor(person)).evaluations, 1, 'it was evaluated')
    const nonce = await harness.caller.nonceFor(person)
    const sending = { ...sent, sealKey: harness.keys.published.sealKey, nonce }
    const frame = await comparisonFrame(person, sending)
    const answers: unknown[] = []
    for (const evaluation of [asked, genuine.evaluation, asked.map((byte, at) => (at > 99_999 ? byte ^ 1 : byte))]) {
      // The sealed message of the device is the same each time, the question another.
      const again = frame.slice()
      again.set(evaluation, again.length - evaluation.length)
      answers.push((await harness.caller.call('POST', KEY_HOLDER_PATHS.evaluations, again)).content.verdict)
    }
    assert.deepEqual(answers, ['accept', 'accept', 'accept'], 'the first answer, three times')
    const { evaluations, attackEvents } = await harness.countedFor(person)
    assert.deepEqual([evaluations, attackEvents], [2, 0])
  })
})

describe('score and norm', () => {
  test('come from token and probe: an evaluation with another share does not fit, and is an attack event', async () => {
    const stranger = await createSubject(faceOf(23))
    const matcherShare = withId(stranger.enrolled.matcherShare, person)
    const input = { ...person.enrolled, matcherShare, probe: genuine.probe, secret: person.secret, isEnrolment: false }
    assert.equal(await compare(await evaluate(input)), 'reject')
    assert.equal((await harness.countedFor(person)).attackEvents, 1)
  })

  test('can be moved by a number: an answer is then one bit of the score of this sign-in, and a moved norm an attack event', async () => {
    const score = x.reduce((sum, value, i) => sum + value * (quantise(sameFace(face, 22))[i] ?? 0), 0)
    const threshold = Math.ceil(harness.config.cosineMin * scale ** 2)
    assert.equal(await compare(withShift(genuine.evaluation, 'score', threshold - score + 20)), 'accept')
    assert.equal(await compare(withShift(genuine.evaluation, 'score', threshold - score - 20)), 'reject')
    assert.equal((await harness.countedFor(person)).attackEvents, 0)
    assert.equal(await compare(withShift(genuine.evaluation, 'norm', 100)), 'reject')
    assert.equal((await harness.countedFor(person)).attackEvents, 1)
  })
})

/** A share of another token under the name of this one. */
function withId(share: Uint8Array, { tokenId }: Subject): Uint8Array {
  const renamed = share.slice()
  renamed.set(Buffer.from(tokenId, 'base64url'), 4)
  return renamed
}
