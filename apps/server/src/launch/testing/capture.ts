/** One good submission in parts, so that a test can change any part before it is sent. */
import type { CapturePayload, Challenge, LaunchEvent, LaunchEventType, SealedEvent } from '@ostiary/contract'
import { CHAIN_START, chainEvent, sealPayload } from '@ostiary/crypto'
import { type SimulatedCapture, seededRandom, simulateCapture } from '@ostiary/device/simulated'
import type { LightMyRequestResponse } from 'fastify'
import { okOf, type Page } from './page.ts'

/** An entry of the log before it is numbered and chained. */
export interface Moment {
  type: LaunchEventType
  t: number
  n?: number
}

/** The parts of a submission, in the order in which they depend on each other. Each may be replaced. */
export interface Changes {
  made?: (made: SimulatedCapture, challenge: Challenge) => SimulatedCapture
  moments?: (moments: Moment[], challenge: Challenge) => Moment[]
  events?: (events: LaunchEvent[]) => LaunchEvent[]
  payload?: (payload: CapturePayload, challenge: Challenge, events: readonly LaunchEvent[]) => CapturePayload
}

export interface Submission {
  challenge: Challenge
  events: LaunchEvent[]
  payload: CapturePayload
  sealed: string
}

/** By the device's clock: when the capture begins. */
export const CAPTURE_AT_MS = 9_000

/** From the page to the running camera. */
export const ARRIVAL: readonly Moment[] = [
  { type: 'page_open', t: 120 },
  { type: 'consent_shown', t: 900 },
  { type: 'consent_given', t: 4_300 },
  { type: 'camera_requested', t: 4_400 },
  { type: 'camera_ready', t: 7_800 },
]

export async function chain(moments: readonly Moment[]): Promise<LaunchEvent[]> {
  const events: LaunchEvent[] = []
  for (const [index, moment] of moments.entries()) {
    events.push(await chainEvent(events.at(-1)?.hash ?? CHAIN_START, { seq: index + 1, ...moment }))
  }
  return events
}

/** From the open session to a challenge that the test can use. */
export async function reachChallenge(page: Page): Promise<Challenge> {
  await page.open()
  await page.consent()
  return page.challenge()
}

export interface Person {
  ageYears?: number
  seed?: number
}

/** Everything that an honest device makes from a challenge, with the changes of a dishonest one. Sends nothing. */
export async function makeSubmission(
  page: Page,
  challenge: Challenge,
  changes: Changes = {},
  { ageYears = 42, seed = 7 }: Person = {},
): Promise<Submission> {
  const honest = simulateCapture({ challenge, ageYears, random: seededRandom(seed) })
  const made = changes.made?.(honest, challenge) ?? honest
  const lived = momentsOf(made, challenge.attempt)
  const chained = await chain(changes.moments?.(lived, challenge) ?? lived)
  const events = changes.events?.(chained) ?? chained
  const last = chained.at(-1)
  const { nonce, attempt } = challenge
  const log = { seq: last?.seq ?? 1, hash: last?.hash ?? CHAIN_START }
  const claimed: CapturePayload = { v: 1, sessionId: page.sessionId, nonce, attempt, ...made.capture, log }
  const payload = changes.payload?.(claimed, challenge, chained) ?? claimed
  return { challenge, events, payload, sealed: await sealPayload(page.sealKey(), page.sessionId, payload) }
}

export function momentsOf({ moments }: SimulatedCapture, attempt: number): Moment[] {
  const during = moments.map(({ type, n, atMs }): Moment => {
    const t = CAPTURE_AT_MS + Math.round(atMs)
    return n === undefined ? { type, t } : { type, t, n }
  })
  const endMs = during.at(-1)?.t ?? CAPTURE_AT_MS
  return [
    ...ARRIVAL,
    { type: 'challenge_received', t: CAPTURE_AT_MS, n: attempt },
    ...during,
    { type: 'submit', t: endMs + 340 },
  ]
}

/** Sends log and payload, as a page does at the end of a capture. */
export async function send(page: Page, { events, sealed }: Submission): Promise<LightMyRequestResponse> {
  if (events.length > 0) okOf(await page.call('events', { events }))
  return page.call('submit', { sealed })
}

/** The payload with the log in it. */
export function sealWithLog(page: Page, { events, payload }: Pick<Submission, 'events' | 'payload'>): Promise<string> {
  const inside = events.map(({ t, type, n }): SealedEvent => (n === undefined ? [t, type] : [t, type, n]))
  const log = { ...payload.log, ...(inside.length > 0 && { events: inside }) }
  return sealPayload(page.sealKey(), page.sessionId, { ...payload, log })
}

/** The same in one call. */
export async function sendAtOnce(page: Page, submission: Submission): Promise<LightMyRequestResponse> {
  return page.call('submit', { sealed: await sealWithLog(page, submission) })
}
