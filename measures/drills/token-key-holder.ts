/**
 * The role of a key holder that cheats (review, finding 1, attack A1): it makes probes itself, has them evaluated by the matcher that serves,
 * opens the numbers with its share and answers as it likes. It reads vector and key with each evaluation it gets; it gets none without a
 * key of the device.
 */
import { TOKEN_BUDGET } from '@ostiary/contract'
import { comparisonOf, createTokenKeys, DeviceError, proveToken, type TokenKeys } from '@ostiary/device'
import type { SeenEvaluation } from '@ostiary/testkit/key-holder-relay'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { evaluate, quantise, TOKEN_PARAMETERS } from '@ostiary/token'
import { createProbeFrom, openEvaluation, probeForKey, readSecret } from '@ostiary/token/testing'
import { atLeast, atMost, type Say } from './token-figures.ts'
import { FORGERIES, forge, repeatable } from './token-forgeries.ts'
import { idOf, type Person, type Scene, setUsed } from './token-scene.ts'

const { t, dimension } = TOKEN_PARAMETERS
const { evaluationsPerDay } = TOKEN_BUDGET
/** The flood fills nine tenths of the room: an opened number cannot say more, whatever the probe was. */
const BITS_OF_A_NUMBER = Math.log2(t / 0.9)
const BASE = 23

export async function cheatAsKeyHolder(scene: Scene, { full, say }: { full: boolean; say: Say }): Promise<Figure[]> {
  scene.relay.answer = async () => 'accept'
  try {
    const person = await scene.enrol()
    return [
      ...(await postUnsigned(scene, person, say)),
      ...(await postWithStolenKey(scene, person, { full, say })),
      ...(await postTransparent(scene, say)),
    ]
  } finally {
    scene.relay.answer = undefined
  }
}

/** It knows all ids, its share and even the public key. The matcher evaluates nothing for it. */
async function postUnsigned(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const seen = scene.relay.seen.length
  const [own, stolen] = [await createTokenKeys(), person.kept.keys]
  const answers = [
    ...(await postProbes(scene, person, { begin: own, sign: own })),
    // The begin is answered here, the probe is not.
    ...(await postProbes(scene, person, { begin: stolen, sign: own })),
  ]
  const refused = answers.filter((code) => code === 'TOKEN_REFUSED').length
  const evaluated = scene.relay.seen.length - seen
  const control = await postProbes(scene, person, { begin: stolen, sign: stolen })
  say(
    `key holder: ${answers.length} crafted probes without a signature of the device, ${refused} refused, ${evaluated} evaluated`,
  )
  return [
    atLeast('key-holder.refused-without-a-signature', refused, answers.length),
    atMost('key-holder.evaluated-without-a-signature', evaluated, 0),
    atMost('key-holder.bits-without-a-signature', evaluated * 2 * BITS_OF_A_NUMBER, 0),
    // Nothing but the signature was missing.
    atLeast('key-holder.control-taken-with-a-signature', control.filter((code) => code === 'taken').length, 1),
  ]
}

/** Goes to the face step of a session and posts probes there. Returns what each was answered. */
async function postProbes(scene: Scene, { kept, made }: Person, keys: { begin: TokenKeys; sign: TokenKeys }) {
  const { device, clock } = await scene.openDevice()
  await device.open()
  await clock.pass(3_000)
  await device.consent(true)
  const { nonce } = await device.challenge()
  const { sessionId } = device
  const { tokenId } = kept
  const proof = await proveToken(keys.begin, { sessionId, nonce, tokenId })
  const begun = await device.tokenBegin({ tokenId, proof }).catch(refusedCode)
  const nonces = { keyHolderNonce: 'A'.repeat(43), matcherNonce: 'B'.repeat(43), keyHolderKey: keys.sign.publicKey }
  const binding = typeof begun === 'string' ? { ...kept, ...nonces, publicKey: null, wantsToken: false } : begun
  const answers: string[] = []
  for (const from of [0, 3, 6, 9]) {
    const probe = await createProbeFrom(made.publicKey, three(from), await repeatable(from))
    const { body } = await comparisonOf(binding, keys.sign, { probe, sealedToken: null })
    answers.push(await device.tokenProbe(body).then(() => 'taken', refusedCode))
  }
  return answers
}

function refusedCode(error: unknown): string {
  if (error instanceof DeviceError) return error.code
  throw error
}

/** Three numbers of the vector in one score. */
const three = (from: number) =>
  Array.from({ length: dimension }, (_, i) => (i < from || i > from + 2 ? 0 : BASE ** (i - from)))

/** With the key of the device it gets the budget of a day, whatever the probes are, and not one more. */
async function postWithStolenKey(
  scene: Scene,
  person: Person,
  { full, say }: { full: boolean; say: Say },
): Promise<Figure[]> {
  const left = full ? evaluationsPerDay : 3
  await setUsed(scene, person, evaluationsPerDay - left)
  const { seen } = scene.relay
  const before = seen.length
  let from = 0
  const createProbe = async (publicKey: Uint8Array) => {
    const probe = await createProbeFrom(publicKey, three(from), await repeatable(1_000 + from))
    from += 3
    return probe
  }
  for (let n = 0; n < left + 2; n++) await scene.signIn(person, { createProbe, once: true })
  const got = seen.slice(before)
  const read = await readVector(got, person)
  const bits = evaluationsPerDay * BITS_OF_A_NUMBER
  say(
    `key holder: with a stolen key of the device ${got.length} evaluations were left of the day; each showed ` +
      `${(read / got.length).toFixed(1)} numbers of the vector. At most ${bits.toFixed(0)} bits of it a day, and as many of the key`,
  )
  const keyRead = await readKey(person)
  return [
    atMost('key-holder.evaluations-a-day-with-a-stolen-key', evaluationsPerDay - left + got.length, evaluationsPerDay),
    atMost('key-holder.bits-a-day-with-a-stolen-key-computed', bits, 690),
    // Shows that the attack is real wherever an evaluation is given away.
    atLeast('key-holder.control-vector-numbers-an-evaluation', read / got.length, 3),
    atLeast('key-holder.control-key-numbers-an-evaluation', keyRead, 8),
  ]
}

/** Numbers that the scores show exactly. */
async function readVector(got: readonly SeenEvaluation[], { face, made }: Person): Promise<number> {
  const x = quantise(face)
  let right = 0
  for (const [n, { token, probe, evaluation }] of got.entries()) {
    let { score } = await openEvaluation({
      ...{ token, probe, evaluation },
      keyShare: made.keyShare,
      isEnrolment: false,
    })
    for (let i = 3 * n; i < 3 * n + 3; i++) {
      const digit = centred(score)
      if (digit === x[i]) right++
      score = (score - digit) / BASE
    }
  }
  return right
}

function centred(value: number): number {
  const rest = ((value % BASE) + BASE) % BASE
  return rest > BASE / 2 ? rest - BASE : rest
}

/** In this process: the norm of a crafted probe shows eight numbers of the key. */
async function readKey({ made }: Person): Promise<number> {
  const secret = Uint8Array.from({ length: 32 }, (_, at) => at)
  const normOf = async (numbers: readonly number[]) => {
    const probe = probeForKey(made.publicKey, numbers)
    const evaluation = await evaluate({ ...made, probe, secret, isEnrolment: false })
    return (await openEvaluation({ ...made, probe, evaluation, isEnrolment: false })).probeNorm
  }
  const weights = Array.from({ length: 8 }, (_, i) => 3 ** i)
  const squares = weights.reduce((sum, weight) => sum + weight ** 2, 0)
  const twice = (await normOf(weights)) - (await normOf([])) - squares
  const half = ((((twice * (t + 1)) / 2) % t) + t) % t
  let rest = half > t / 2 ? half - t : half
  const [s = []] = await readSecret(made)
  return weights.filter((_, i) => {
    const digit = ((((rest + 1) % 3) + 3) % 3) - 1
    rest = (rest - digit) / 3
    return digit === s[i]
  }).length
}

/** Three of them freeze the token at the matcher: it does not need the key holder's word for that. */
async function postTransparent(scene: Scene, say: Say): Promise<Figure[]> {
  const person = await scene.enrol()
  const forgery = FORGERIES.find(({ name }) => name === 'transparent')
  if (!forgery) throw new Error('There is no such forgery')
  const before = scene.relay.seen.length
  let seed = 0
  await scene.signIn(person, {
    createProbe: (publicKey) => forge(forgery, { face: person.face, publicKey, seed: ++seed }),
  })
  const { rows } = await scene.atMatcher('select attack_events from face_tokens where token_id = $1', [idOf(person)])
  await scene.signIn(person, { once: true })
  const evaluated = scene.relay.seen.length - before
  say(`key holder: after ${rows[0].attack_events} transparent probes with a stolen key, ${evaluated} evaluations`)
  return [atMost('key-holder.evaluations-after-three-attack-events', evaluated, 0)]
}
