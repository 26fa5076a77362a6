/** What a device does in the document step, for tests that choose its facts. Only tests import this. */
import assert from 'node:assert/strict'
import type { DocumentPayload, DocumentStep, LaunchState } from '@ostiary/contract'
import type { ChallengeNeeds, DocumentFacts } from '@ostiary/device'
import { seededRandom, simulateCapture, simulateDocument } from '@ostiary/device/simulated'
import type { UserDevice } from './fixture.ts'

/** The three orders in which a session may ask for a document. */
export const BOTH = { requirements: ['face', 'identity_document'], documentAgeThreshold: 18 } as const
export const FIRST = { requirements: ['identity_document', 'face'], documentAgeThreshold: 18 } as const
export const ALONE = { requirements: ['identity_document'], documentAgeThreshold: 18 } as const

type Capture = Parameters<UserDevice['device']['submit']>[0]

export function factsOf(
  step: DocumentStep,
  change: Partial<DocumentPayload> = {},
  capture = step.match?.capture,
): DocumentFacts {
  const facts = simulateDocument({}, { step, ageYears: 40, random: seededRandom(1), locale: 'en', capture })
  assert.ok(!('failure' in facts))
  return { ...facts, ...change }
}

/** Shows, reads and confirms one side. */
export async function show({ device, clock }: UserDevice) {
  await device.logEvent('document_shown', 1)
  await clock.pass(2_000)
  await device.logEvent('document_read', 1)
  await clock.pass(2_000)
}

export async function sendDocument(user: UserDevice, change: Partial<DocumentPayload> = {}): Promise<LaunchState> {
  const step = await user.device.documentStep()
  await show(user)
  return user.device.submitDocument(factsOf(step, change))
}

export async function look(
  user: UserDevice,
  change: Partial<Capture> = {},
  needs: ChallengeNeeds = {},
): Promise<LaunchState> {
  const { device, clock } = user
  const challenge = await device.challenge('match', needs)
  await device.logEvent('challenge_received', challenge.attempt)
  const { capture, moments } = simulateCapture({ challenge, random: seededRandom(2), ageYears: null })
  let nowMs = 0
  for (const { type, n, atMs } of moments) {
    await clock.pass(Math.max(0, Math.round(atMs - nowMs)))
    nowMs = Math.max(nowMs, atMs)
    await device.logEvent(type, n)
  }
  return device.submit({ ...capture, ...change })
}

export async function reloaded({ device, clock }: UserDevice): Promise<LaunchState> {
  await device.logEvent('page_open')
  const state = await device.open()
  await device.logEvent('camera_requested')
  await clock.pass(500)
  await device.logEvent('camera_ready')
  return state
}
