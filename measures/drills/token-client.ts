/** The role of a client that cheats: it has a device key of its own, and encrypts what it likes. */
import { TOKEN_BUDGET } from '@ostiary/contract'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { cosineOf, evaluate, judge, probeFault, quantise, TOKEN_PARAMETERS } from '@ostiary/token'
import { createTokenFrom } from '@ostiary/token/testing'
import { createAttacker, createVectors, dot, type OracleAnswer, type Vector } from './oracle-attack.ts'
import { atLeast, atMost, COSINE_MIN, type Say } from './token-figures.ts'
import { FORGERIES, forge, repeatable } from './token-forgeries.ts'
import { countedFor, type Scene } from './token-scene.ts'

const { scale } = TOKEN_PARAMETERS
/** Up to what the key holder takes for rounding. */
const ACCEPTED = { from: COSINE_MIN, to: 1.02 }
const SECRET = Uint8Array.from({ length: 32 }, (_, at) => 200 - at)
const TOKEN_ID = Uint8Array.from({ length: 16 }, (_, at) => at + 1)

export async function cheatAsClient(scene: Scene, { full, say }: { full: boolean; say: Say }): Promise<Figure[]> {
  return [
    ...(await forgeMany(full ? 1_200 : 60, say)),
    ...(await forgeOverTheNetwork(scene, say)),
    ...(await askWithinBudget(say)),
  ]
}

/** Against the code of both services: over the network each token gives three tries. */
async function forgeMany(wanted: number, say: Say): Promise<Figure[]> {
  const face = Array.from(createVectors(77).direction())
  const enrolled = await createTokenFrom(TOKEN_ID, quantise(face), await repeatable(0x70ce4))
  const norm = quantise(face).reduce((sum, value) => sum + value ** 2, 0)
  let [forged, accepted, byScore] = [0, 0, 0]
  for (let round = 0; forged < wanted; round++) {
    for (const forgery of FORGERIES) {
      forged++
      const probe = await forge(forgery, {
        face,
        publicKey: enrolled.publicKey,
        seed: round * FORGERIES.length + forged,
      })
      // The matcher goes no further, and counts an attack.
      if (probeFault(probe, TOKEN_ID) !== undefined) continue
      const evaluation = await evaluate({ ...enrolled, probe, secret: SECRET, isEnrolment: false })
      const { attack, score, probeNorm } = await judge({ ...enrolled, probe, evaluation, isEnrolment: false })
      if (score >= ACCEPTED.from * scale ** 2 && score <= ACCEPTED.to * scale ** 2) byScore++
      const cosine = cosineOf({ score, tokenNorm: norm, probeNorm })
      if (attack || cosine < ACCEPTED.from || cosine > ACCEPTED.to) continue
      accepted++
      say(`ACCEPTED: ${forgery.name}, round ${round}`)
    }
  }
  say(`client: ${forged} forged probes of ${FORGERIES.length} kinds, ${accepted} accepted; the score alone: ${byScore}`)
  return [
    atLeast('client.forged-probes', forged, wanted),
    atMost('client.forged-accepted', accepted, 0),
    // Otherwise the forgeries were no good.
    atLeast('client.forged-that-the-score-alone-accepts', byScore, Math.floor(wanted / 5)),
  ]
}

/** Three tries of one session: the third freezes the token, and its owner too has to enrol again. */
async function forgeOverTheNetwork(scene: Scene, say: Say): Promise<Figure[]> {
  let [accepted, eventsLost, evaluatedAfter] = [0, 0, 0]
  // The key holder finds the first, the matcher the second.
  for (const name of ['halves of t, the first even', 'transparent']) {
    const forgery = FORGERIES.find((one) => one.name === name)
    if (!forgery) throw new Error(`There is no forgery "${name}"`)
    const person = await scene.enrol()
    let seed = 0
    const createProbe = (publicKey: Uint8Array) => forge(forgery, { face: person.face, publicKey, seed: ++seed })
    const end = await scene.signIn(person, { createProbe })
    if (end === 'lost' || end.puid) accepted++
    const { matcher, keyHolder } = await countedFor(scene, person)
    eventsLost += TOKEN_BUDGET.attackEvents - Math.max(matcher.attacks, keyHolder.attacks)
    const before = keyHolder.evaluations
    const honest = await scene.signIn(person, { once: true })
    if (honest === 'lost' || honest.puid) accepted++
    evaluatedAfter += (await countedFor(scene, person)).keyHolder.evaluations - before
  }
  say(`client: over the network three forged probes freeze a token, ${evaluatedAfter} evaluations after that`)
  return [
    atMost('client.accepted-over-the-network', accepted, 0),
    atMost('client.attack-events-not-counted', eventsLost, 0),
    atMost('client.evaluations-after-the-freeze', evaluatedAfter, 0),
  ]
}

const DAYS_PER_TOKEN = TOKEN_BUDGET.evaluationsPerToken / TOKEN_BUDGET.evaluationsPerDay

/**
 * Honest probes of vectors that the client chooses, accept and reject (review, finding 4): each answer at the boundary is a bit. Computed
 * with the attacker of the drill `oracle`, and not asked of the services: nobody waits a month here.
 */
async function askWithinBudget(say: Say): Promise<Figure[]> {
  const enrolled = createVectors(9_100).direction()
  const attacker = createAttacker(enrolled, 9_200)
  let [answers, rejects] = [0, 0]
  const ask = async (probe: Vector): Promise<OracleAnswer> => {
    const isSame = dot(probe, enrolled) >= ACCEPTED.from
    answers++
    if (!isSame) rejects++
    return { score: isSame ? 1 : null }
  }
  const until = async (most: number) => {
    while (rejects < most && answers < TOKEN_BUDGET.evaluationsPerToken) await attacker.step(ask, 'yes-no')
    return attacker.cosine()
  }
  const month = await until(TOKEN_BUDGET.failuresPer30Days)
  const lifetime = await until((TOKEN_BUDGET.failuresPer30Days * DAYS_PER_TOKEN) / 30)
  say(
    `client: computed, a client with one accepted picture comes from .65 to ${month.toFixed(3)} with the failures of 30 days, ` +
      `to ${lifetime.toFixed(3)} in the ${DAYS_PER_TOKEN} days of a token`,
  )
  return [
    atMost('client.cosine-after-30-days-computed', month, 0.75),
    atMost('client.cosine-after-a-token-computed', lifetime, 0.85),
  ]
}
