import { checkMessages, formatFault, idBytes, isSame, probeFault } from './format.ts'
import { messageOf, readNumber } from './numbers.ts'
import { createOpener, openingWeights, openWith, readProbe, readRings, spectraOf, toShare } from './opening.ts'
import {
  ENROLMENT_EVALUATION_BYTES,
  EVALUATION_BYTES,
  HEADER_BYTES,
  NUMBER_BYTES,
  PAIRS,
  RING_BYTES,
  SEED_BYTES,
  TOKEN_PARAMETERS,
} from './parameters.ts'
import { testsOf } from './probe-tests.ts'
import { createRing, readRing } from './ring.ts'
import { expandTokenMasks } from './seeds.ts'

const { k, scale, normTolerance, shortMax, shortRmsMax } = TOKEN_PARAMETERS

/** What an honest browser and an honest matcher do not produce. Each is counted, and a token with a few is frozen. */
export const ATTACK_EVENTS = ['malformed', 'transparent', 'linear', 'short', 'norm', 'cross'] as const
export type AttackEvent = (typeof ATTACK_EVENTS)[number]

export interface Judgement {
  attack: AttackEvent | undefined
  /** The inner product of the enrolled and the fresh vector: an exact integer. 0 where nothing was opened. */
  score: number
  /** The fresh vector's squared length: an exact integer. */
  probeNorm: number
}

export interface JudgeInput {
  token: Uint8Array
  probe: Uint8Array
  evaluation: Uint8Array
  keyShare: Uint8Array
  isEnrolment: boolean
}

/** The numbers that an evaluation opens to. */
export interface Opened {
  score: number
  probeNorm: number
  linear: number[]
  short: number[]
  /** Empty for a sign-in. */
  cross: number[]
}

/**
 * The key holder's half of a comparison. It computes its part of score and norm from token and probe themselves, so that the
 * matcher cannot put another question in their place.
 */
export async function judge(input: JudgeInput): Promise<Judgement> {
  const { token, probe, evaluation, keyShare, isEnrolment } = input
  checkMessages({ token, 'key share': keyShare })
  const length = isEnrolment ? ENROLMENT_EVALUATION_BYTES : EVALUATION_BYTES
  const fault = probeFault(probe, idBytes(token))
  if (fault) return { attack: fault, score: 0, probeNorm: 0 }
  if (formatFault('evaluation', evaluation, length) || !isSame(idBytes(evaluation), idBytes(token))) {
    return { attack: 'malformed', score: 0, probeNorm: 0 }
  }
  const opened = await openEvaluation(input)
  return { attack: findAttack(opened), score: opened.score, probeNorm: opened.probeNorm }
}

/** For messages that are well-formed: `judge` checks that. */
export async function openEvaluation(input: JudgeInput): Promise<Opened> {
  const { token, probe, evaluation, keyShare, isEnrolment } = input
  const share = toShare(readRings(keyShare, HEADER_BYTES, k + PAIRS))
  const encrypted = {
    b: readRing(token, HEADER_BYTES + SEED_BYTES),
    a: await expandTokenMasks(token.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES)),
  }
  const fresh = readProbe(probe)
  const weights = openingWeights(share, fresh, spectraOf(fresh), false)
  const score = messageOf(openWith(weights, encrypted) + readNumber(evaluation, HEADER_BYTES))
  const probeNorm = messageOf(openWith(weights, fresh) + readNumber(evaluation, HEADER_BYTES + NUMBER_BYTES))
  const opened: Opened = { score, probeNorm, linear: [], short: [], cross: [] }
  const open = createOpener(share)
  const a = Array.from({ length: k }, () => createRing())
  for (const { kind, offset, positions } of testsOf(isEnrolment)) {
    for (const [j, ring] of a.entries()) readRing(evaluation, offset + j * RING_BYTES, ring)
    for (const [index, position] of positions.entries()) {
      const given = readNumber(evaluation, offset + k * RING_BYTES + index * NUMBER_BYTES)
      opened[kind].push(messageOf(given + open(a, position)))
    }
  }
  return opened
}

function findAttack({ score, probeNorm, linear, short, cross }: Opened): AttackEvent | undefined {
  if (linear.some((value) => value !== 0)) return 'linear'
  // Half of the weights are 0, the others ±1: an honest sum has the variance scale^2 / 2.
  const variance = scale ** 2 / 2
  const squares = short.map((value) => value ** 2)
  const mean = squares.reduce((sum, square) => sum + square, 0) / squares.length
  if (Math.max(...squares) > shortMax ** 2 * variance || mean > shortRmsMax ** 2 * variance) return 'short'
  if (Math.abs(probeNorm - scale ** 2) > normTolerance * scale ** 2) return 'norm'
  if (cross.some((value) => value !== 0) || (cross.length > 0 && score !== probeNorm)) return 'cross'
  return undefined
}

/** 1 for the same direction. An honest one can exceed 1 by rounding only, far below 1.02. */
export function cosineOf({
  score,
  tokenNorm,
  probeNorm,
}: {
  score: number
  tokenNorm: number
  probeNorm: number
}): number {
  return score / Math.sqrt(tokenNorm * probeNorm)
}
