/**
 * The reconstruction of an enrolled vector from what area E answers. It begins with one probe whose cosine with the enrolled vector is
 * known, moves it along one random direction after the other, and learns from each answer how much of that direction the enrolled
 * vector has: exactly from a score, its sign from a yes or no at the boundary of a match. Of what is known of nothing, random
 * directions at right angles to each other teach the most. A band teaches no more than a yes or no: two edges are 0.16 apart, and a
 * probe moves by 0.03.
 */
import { seeded } from './malformed.ts'

const DIMENSION = 512
/** The cosine of the first probe, as a picture of the person from elsewhere would have. */
const FIRST_COSINE = 0.65
/** The least cosine of a match, and of a near miss, which is counted like one (docs/api/biometrics.md). */
export const MATCH_MIN = 0.5
export const NEAR_MIN = 0.4
const SLOPE = 13.7
/** Of a normal distribution: the mean of its positive half, in standard deviations. */
const HALF_NORMAL_MEAN = Math.sqrt(2 / Math.PI)
/** How much of the estimate is in a probe that reads a score: enough that it matches. */
const SCORED_SHARE = 0.9

/** The boundary is never believed to be beyond what a probe can reach: its shares would be no numbers. */
const LEAST_BELIEVED = MATCH_MIN + 0.01
/** How fast the belief about the boundary follows the answers, in standard deviations. */
const BELIEF = 0.1

export type Vector = Float64Array

/** What the service answered: `score` null when nobody is recognised. */
export interface OracleAnswer {
  score: number | null
}

export interface Attacker {
  /** Sends one probe and learns from its answer: of yes and no on which side of the boundary it is. Returns false when the service refused it. */
  step(
    ask: (probe: Vector) => Promise<OracleAnswer | 'refused'>,
    reads: 'score' | 'yes-no',
    boundary?: number,
  ): Promise<boolean>
  /** How near the reconstruction is. Only the drill can say: it knows the enrolled vector. */
  cosine(): number
}

export function createVectors(seed: number) {
  const random = seeded(seed)
  const gaussian = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return { direction: (): Vector => unit(Float64Array.from({ length: DIMENSION }, gaussian)) }
}

export function createAttacker(enrolled: Vector, seed: number): Attacker {
  const { direction } = createVectors(seed)
  const first = plus(enrolled, FIRST_COSINE, across(direction(), [enrolled]), Math.sqrt(1 - FIRST_COSINE ** 2))
  // The estimate: a sum of directions at right angles, each with as much of it as is known or expected.
  let known: Vector[] = [first]
  let sum = first.map((value) => value * FIRST_COSINE)
  /** The part of the enrolled vector that the estimate is expected to hold, squared. */
  let held = FIRST_COSINE ** 2
  /** Where the boundary seems to be: as many answers have to be yes as no, else they say nothing. */
  let believed = FIRST_COSINE

  /** What a direction that was not asked about has of the enrolled vector: the standard deviation. The same for all of them. */
  let deviation = deviationOf(held)

  /** All directions were used: the estimate becomes the first one, and the rest is searched in new ones. */
  function startOver(): void {
    if (known.length < DIMENSION) return
    known = [unit(sum)]
    sum = unit(sum).map((value) => value * Math.sqrt(held))
    deviation = deviationOf(held)
  }

  return {
    async step(ask, reads, boundary = MATCH_MIN) {
      startOver()
      const next = across(direction(), known)
      const estimate = unit(sum)
      const cosine = reads === 'score' ? Math.sqrt(held) : believed
      const share = reads === 'score' ? SCORED_SHARE : boundary / cosine
      const rest = Math.sqrt(1 - share ** 2)
      const answer = await ask(plus(estimate, share, next, rest))
      if (answer === 'refused') return false
      const learned = learn(answer, reads, { share, rest, cosine, deviation })
      known.push(next)
      sum = sum.map((value, i) => value + learned * (next[i] ?? 0))
      held = Math.min(0.9999, held + learned ** 2)
      // The cosine grows with what is held; each yes says that it is a little more, each no a little less.
      const drift = answer.score === null ? -1 : 1
      const moved = reads === 'yes-no' ? BELIEF * drift * rest * deviation : 0
      believed = Math.min(0.9999, Math.max(LEAST_BELIEVED, Math.sqrt(believed ** 2 + learned ** 2) + moved))
      return true
    },
    cosine: () => dot(unit(sum), enrolled),
  }
}

const deviationOf = (held: number): number => Math.sqrt((1 - held) / (DIMENSION - 1))

interface Probe {
  share: number
  rest: number
  cosine: number
  deviation: number
}

/** How much of the direction the enrolled vector has. */
function learn({ score }: OracleAnswer, reads: 'score' | 'yes-no', { share, rest, cosine, deviation }: Probe): number {
  // The lowest band in place of a score says yes and nothing more.
  if (reads === 'yes-no' || score === null || score <= MATCH_MIN || score >= 1) {
    return (score === null ? -1 : 1) * HALF_NORMAL_MEAN * deviation
  }
  const measured = MATCH_MIN + Math.log(score / (1 - score)) / SLOPE
  return (measured - share * cosine) / rest
}

export function dot(a: Vector, b: Vector): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}

function unit(vector: Vector): Vector {
  const length = Math.sqrt(dot(vector, vector))
  return vector.map((value) => value / length)
}

function plus(a: Vector, share: number, b: Vector, other: number): Vector {
  return a.map((value, i) => value * share + (b[i] ?? 0) * other)
}

/** The part of a vector that is at right angles to these, which are at right angles to each other. */
function across(vector: Vector, to: readonly Vector[]): Vector {
  const rest = Float64Array.from(vector)
  for (const one of to) {
    const along = dot(rest, one)
    for (let i = 0; i < rest.length; i++) rest[i] = (rest[i] as number) - along * (one[i] as number)
  }
  return unit(rest)
}
