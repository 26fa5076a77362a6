/**
 * The role of a matcher that cheats (review, finding 2, attack A2): it has the key of the service, its share, the token, and sees accept or
 * reject. It asks the real key holder. Beside it the matcher that sends a public key of its own to a device.
 */
import { KEY_HOLDER_PATHS, TOKEN_BUDGET } from '@ostiary/contract'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { createTokenKeys } from '@ostiary/device'
import { comparisonFrame, type EvaluatedProbe, evaluateFace, type Subject } from '@ostiary/key-holder/testing'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { createProbe, createToken, type EnrolledToken, quantise, TOKEN_PARAMETERS } from '@ostiary/token'
import { decryptProbe, withConstantTests, withForeignTest, withShift } from '@ostiary/token/testing'
import { atLeast, atMost, COSINE_MIN, choiceBits, type Say } from './token-figures.ts'
import { countedFor, type Person, type Scene, subjectOf } from './token-scene.ts'

const { scale, dimension } = TOKEN_PARAMETERS
/** A short test passes up to here. */
const LARGEST = Math.floor((6 * scale) / Math.SQRT2)
const { evaluationsPerToken, attackEvents } = TOKEN_BUDGET
/** What yes and no say of which at most three are no: the review's bound. */
const BITS_OF_A_TOKEN = choiceBits(evaluationsPerToken, attackEvents)
const BITS_MOST = 34.3

export async function cheatAsMatcher(scene: Scene, { say }: { say: Say }): Promise<Figure[]> {
  const person = await scene.enrol()
  return [
    ...(await askUnsigned(scene, person, say)),
    ...(await askAboutTheScore(scene, person, say)),
    ...(await askAboutTheVector(scene, person, say)),
    ...(await sendOwnPublicKey(scene, say)),
  ]
}

/** Without a signature of the device nothing is judged: the answer is always reject and says nothing. */
async function askUnsigned(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const { asMatcher, keyHolder } = scene
  const subject = subjectOf(person)
  const probe = await evaluateFace(subject, person.face)
  const own = (await createTokenKeys(true)).privateKey
  const before = (await countedFor(scene, person)).keyHolder
  const { sealKey } = keyHolder.published
  const signedOnce = await comparisonFrame(subject, { ...probe, sealKey, nonce: await asMatcher.nonceFor(subject) })
  await asMatcher.ask(KEY_HOLDER_PATHS.evaluations, signedOnce)
  const judged = (await countedFor(scene, person)).keyHolder.evaluations - before.evaluations
  const fresh = async () => ({ keyHolderNonce: await asMatcher.nonceFor(subject) })
  const tries = [
    // A probe of its own making, signed by a key of its own.
    ...[1, 2, 3, 4].map(() => () => asMatcher.compare(subject, probe, { signWith: own })),
    // The signature of another sign-in, with a new nonce, for another probe, or for another account.
    async () => asMatcher.compare(subject, probe, { unsigned: await fresh() }),
    async () =>
      asMatcher.compare(
        subject,
        { ...probe, probe: await createProbe(person.made.publicKey, person.face) },
        { signed: { probeHash: 'A'.repeat(43) } },
      ),
    async () => asMatcher.compare(subject, probe, { signed: { account: 'A'.repeat(22) } }),
    async () => asMatcher.compare(subject, probe, { unsigned: { matcherNonce: 'B'.repeat(43) } }),
    // The device's own message once more: its answer is repeated, and nothing is judged.
    async () => (await asMatcher.ask<{ verdict: string }>(KEY_HOLDER_PATHS.evaluations, signedOnce)).verdict,
  ]
  const verdicts = await Promise.all(tries.map((attempt) => attempt()))
  const after = (await countedFor(scene, person)).keyHolder
  const evaluated = after.evaluations - before.evaluations - judged
  const answers = new Set(verdicts.slice(0, -1))
  say(`matcher: ${tries.length} questions without a signature for them, ${evaluated} judged, answers ${[...answers]}`)
  return [
    atMost('matcher.judged-without-a-signature', evaluated, 0),
    atMost('matcher.bits-without-a-signature', Math.log2(answers.size) + evaluated, 0),
    atMost('matcher.failures-counted-without-a-signature', after.failures - before.failures, 0),
  ]
}

/**
 * It moves the score of a genuine sign-in, and asks two questions with each signature of the device. Whatever it puts there moves the
 * score by a number, because the key holder computes the rest itself.
 */
async function askAboutTheScore(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const { asMatcher, keyHolder } = scene
  const subject = subjectOf(person)
  const probe = await evaluateFace(subject, person.face)
  const threshold = Math.ceil(COSINE_MIN * scale ** 2)
  const before = (await countedFor(scene, person)).keyHolder
  // Halving: each sign-in is of the same picture here, which is more than a matcher has.
  let [low, high] = [0, Math.round(1.02 * scale ** 2)]
  const signIns = 3
  const answers = new Set<string>()
  for (let n = 0; n < signIns; n++) {
    const middle = Math.round((low + high) / 2)
    const { sealKey } = keyHolder.published
    const frame = await comparisonFrame(subject, { ...probe, sealKey, nonce: await asMatcher.nonceFor(subject) })
    const own: string[] = []
    for (const at of [middle, low]) {
      const asked = frame.slice()
      asked.set(withShift(probe.evaluation, 'score', threshold - at), asked.length - probe.evaluation.length)
      own.push((await asMatcher.ask<{ verdict: string }>(KEY_HOLDER_PATHS.evaluations, asked)).verdict)
    }
    answers.add(own[0] ?? '')
    if (own[0] === 'accept') low = middle
    else high = middle
  }
  const judged = (await countedFor(scene, person)).keyHolder.evaluations - before.evaluations
  const score = quantise(person.face).reduce((sum, value) => sum + value ** 2, 0)
  say(
    `matcher: ${2 * signIns} questions about the score with ${signIns} signatures, ${judged} judged: ` +
      `between ${low} and ${high}, it is ${score}`,
  )
  return [
    // A judged question has an answer of two, so that it is a bit at most.
    atMost('matcher.bits-a-genuine-sign-in', (judged * Math.log2(Math.max(2, answers.size))) / signIns, 1),
    // Shows that the questions were answered at all.
    atLeast('matcher.control-halvings-that-hold', score >= low - 30 && score <= high + 30 ? signIns : 0, signIns),
  ]
}

/** Foreign products in short tests, one question for each genuine sign-in, until the token is frozen. */
async function askAboutTheVector(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const subject = subjectOf(person)
  const x = quantise(person.face)
  const probe = await evaluateFace(subject, person.face)
  let [asked, right] = [0, 0]
  let verdict = 'accept'
  for (let index = 0; verdict !== 'locked' && asked < 60; index++) {
    // The sign of a number of the vector: as often yes as no, so that an answer is a whole bit.
    verdict = await askOnce(scene, subject, probe, { index, value: 0 })
    if (verdict === 'locked') break
    asked++
    if ((verdict === 'accept') === (x[index] ?? 0) <= 0) right++
  }
  const { attacks } = (await countedFor(scene, person)).keyHolder
  const signIn = await scene.signIn(person, { once: true })
  const afterwards = signIn !== 'lost' && signIn.puid === undefined ? 0 : 1
  say(
    `matcher: ${asked} questions about the vector, ${right} answers right, frozen after ${attacks} no; at most ` +
      `${BITS_OF_A_TOKEN.toFixed(1)} bits of a token with ${evaluationsPerToken} sign-ins, of about 1,634`,
  )
  return [
    atMost('matcher.attack-events-before-the-freeze', attacks, attackEvents),
    // Each answer is a bit here, because yes and no are equally likely.
    atMost('matcher.bits-of-the-vector-before-the-freeze', asked, BITS_MOST),
    atMost('matcher.bits-of-the-vector-bound-computed', BITS_OF_A_TOKEN, BITS_MOST),
    atLeast('matcher.control-right-answers', right, asked),
    atMost('matcher.answers-after-the-freeze', afterwards, 0),
  ]
}

async function askOnce(
  { asMatcher }: Scene,
  subject: Subject,
  probe: EvaluatedProbe,
  { index, value }: { index: number; value: number },
): Promise<string> {
  const constant = withConstantTests(probe.evaluation)
  const evaluation = await withForeignTest(constant, subject.enrolled, { index, shift: LARGEST - value })
  return asMatcher.compare(subject, { ...probe, evaluation })
}

/** The page asks the matcher for the public key. One that it made itself would let it read the face of the next sign-in. */
async function sendOwnPublicKey(scene: Scene, say: Say): Promise<Figure[]> {
  const person = await scene.enrol()
  const own = await createToken(Buffer.from(person.kept.tokenId, 'base64url'), scene.picture(person.face))
  const sent: Uint8Array[] = []
  const swapping: typeof fetch = async (input, init) => {
    const path = new URL(String(input)).pathname
    if (path === LAUNCH_PATHS.tokenProbe) {
      const { probe } = JSON.parse(Buffer.from(init?.body as Uint8Array).toString()) as { probe: string }
      sent.push(Buffer.from(probe, 'base64url'))
    }
    const response = await fetch(input, init)
    if (path !== LAUNCH_PATHS.tokenBegin || !response.ok) return response
    const begun = (await response.json()) as object
    return Response.json({ ...begun, publicKey: Buffer.from(own.publicKey).toString('base64url') })
  }
  await scene.signIn(person, { face: person.face, fetch: swapping, once: true })
  const readable = await Promise.all(sent.map((probe) => numbersRead(probe, own, person)))
  const control = await numbersRead(await createProbe(own.publicKey, person.face), own, person)
  say(
    `matcher: a public key of its own gets ${sent.length} probes; ${control} of ${dimension} numbers could be read in one`,
  )
  return [
    atMost('matcher.vector-numbers-read-with-a-key-of-its-own', Math.max(0, ...readable), 0),
    atLeast('matcher.control-numbers-in-such-a-probe', control, dimension),
  ]
}

async function numbersRead(probe: Uint8Array, own: EnrolledToken, { face }: Person): Promise<number> {
  const x = quantise(face)
  const read = await decryptProbe(probe, own)
  return x.filter((value, i) => value === read[i]).length
}
