import type { CaptureConditions, Challenge, LaunchState, PasskeyOptions } from '@ostiary/contract'
import { FACE_STATES } from '@ostiary/contract/states'
import { encodeVector } from '@ostiary/crypto'
import type { Capture, ChallengeNeeds, Device } from '../device.ts'
import type { SimulatedClock } from './clock.ts'
import { isUnread, type SimulatedDocument, simulateDocument } from './document.ts'
import { type Moment, type SimulatedCapture, type SimulateOptions, simulateCapture } from './person.ts'
import { between } from './randomness.ts'
import { SPOOFS, type Spoof, type SpoofName } from './spoofs.ts'
import { findTokenSteps, type SimulatedTokens, TokenFailed, type TokenSteps } from './token.ts'

export interface SimulatedPerson extends Omit<SimulateOptions, 'challenge'> {
  /** The clock that the device was created with. */
  clock: SimulatedClock
  spoof?: SpoofName
  /** Declines the consent. */
  declines?: boolean
  handoffCode?: string
  /** What the user reads on the first screen and types on this device. */
  number?: string
  /** The browser's claims about its local token: the key, or the result of its comparison. */
  claim?: (challenge: Challenge) => Promise<NonNullable<Capture['local']>>
  /** ENROLL: signs with the private half of the local key. Without it, the service enrols without the key. */
  proveKey?: (to: { sessionId: string; nonce: string }) => Promise<string>
  /** For sessions that store tokens: they get a token or a probe, and never `vector`. */
  tokens?: SimulatedTokens
  /** ENROLL, SIGN-IN and VERIFY: light, movement and camera. */
  conditions?: CaptureConditions
  /** A JPEG, for sessions that share it. */
  selfie?: Uint8Array
  /** The authenticator. Without one the flow stops at the passkey step. */
  passkey?: (asked: PasskeyOptions) => Promise<object>
  /** Without one the flow stops at the document step. */
  document?: SimulatedDocument
  /** Movements that this person cannot make, and more time: said at the first challenge, which is replaced. */
  needs?: Pick<ChallengeNeeds, 'cannot' | 'pace'>
  /** Called with a readable line per step. */
  onStep?: (step: string) => void
}

/** Runs a whole flow of the face step: opens, consents, captures, and tries again while the service allows it. */
export async function runFlow(device: Device, person: SimulatedPerson): Promise<LaunchState> {
  const { clock, random, onStep = () => {} } = person
  const pass = (min: number, max: number) => clock.pass(Math.round(between(random, min, max)))

  await device.logEvent('page_open')
  onStep('opens the session')
  const opened = await device.open(person.handoffCode)
  if (opened.flowStatus !== null || opened.role === 'viewer') return opened
  if (opened.numberNeeded && person.number !== undefined) {
    await pass(1500, 4000)
    onStep(`types the number ${person.number}`)
    await device.number(person.number)
  }
  await pass(200, 500)
  await device.logEvent('consent_shown')
  await pass(1500, 4000)
  if (person.declines) {
    onStep('declines consent')
    return device.consent(false, opened.locale)
  }
  await device.logEvent('consent_given')
  onStep('gives consent')
  const consented = await device.consent(true, opened.locale)
  if (consented.flowStatus !== null) return consented
  await device.logEvent('camera_requested')
  await pass(400, 1500)
  await device.logEvent('camera_ready')

  const language = opened.locale
  const tokenSteps = findTokenSteps(device, opened, { tokens: person.tokens, onStep })
  const memory: Memory = { capture: undefined, document: undefined, tries: 0, saidNeeds: false, tokenSteps }
  let state = consented
  while (mayContinue(state, person)) {
    if (state.state === 'DOC_ACTIVE') {
      state = await showDocument(device, person, memory, language)
      continue
    }
    if (memory.tries > 0) {
      onStep(`is asked to try again (${state.attemptsLeft} left)`)
      await pass(800, 2000)
      await device.logEvent('retake', state.attempt)
    }
    memory.tries++
    state = await captureOnce(device, person, memory)
  }
  if (isGivenUp(state)) state = await giveUp(device)
  while (person.passkey && state.state === 'PASSKEY_ACTIVE') {
    onStep('is asked for a passkey')
    state = await device.passkeyVerify(await person.passkey(await device.passkeyOptions()))
  }
  if (state.flowStatus !== null) await tokenSteps?.end(state)
  return state
}

/** What this device holds of the steps so far: the face of the last capture, and the portrait of the last document. */
interface Memory {
  capture: string | undefined
  /** The nonce of its step, and how alike the portrait and this person are, in thousandths. */
  document: { nonce: string; score: number } | undefined
  tries: number
  /** The service knows what the person needs. */
  saidNeeds: boolean
  tokenSteps: TokenSteps
}

/** Shows the document and sends its facts. Looks at the face once more where this device does not hold it. */
async function showDocument(
  device: Device,
  person: SimulatedPerson,
  memory: Memory,
  locale: string,
): Promise<LaunchState> {
  const { clock, random, document = {}, onStep = () => {} } = person
  const pass = (min: number, max: number) => clock.pass(Math.round(between(random, min, max)))
  let step = await device.documentStep()
  onStep(`is asked for a document (${step.attemptsLeft} ${step.attemptsLeft === 1 ? 'try' : 'tries'} left)`)
  if (step.match && step.match.capture !== memory.capture) {
    onStep('looks into the camera once more, for the comparison')
    const { vector: _vector, claim: _claim, selfie: _selfie, conditions: _conditions, ...face } = person
    const looked = await captureOnce(device, { ...face, ageYears: null }, memory, 'match')
    if (looked.state !== 'DOC_ACTIVE' || looked.errors.length > 0) return looked
    step = await device.documentStep()
  }
  await device.logEvent('document_shown', 1)
  await pass(2000, 5000)
  const ageYears = person.ageYears ?? ADULT_YEARS
  const shown = simulateDocument(document, { step, ageYears, random, locale, capture: step.match?.capture })
  if (isUnread(shown)) {
    onStep('gives up: the document gives nothing to send')
    return device.failure(shown.failure)
  }
  await device.logEvent('document_read', 1)
  if (shown.sides === 2) {
    await pass(2000, 4000)
    await device.logEvent('document_shown', 2)
    await pass(1000, 3000)
    await device.logEvent('document_read', 2)
  }
  await pass(1500, 4000)
  onStep(`sends facts of a ${shown.type} (${shown.format})`)
  const score = document.fault === 'wrong-person' ? OTHER_PERSON_SCORE : SAME_PERSON_SCORE
  memory.document = { nonce: step.nonce, score }
  return device.submitDocument(shown)
}

const matchOf = ({ nonce, score }: NonNullable<Memory['document']>) => ({ score, document: nonce })

const ADULT_YEARS = 34
const SAME_PERSON_SCORE = 700
const OTHER_PERSON_SCORE = 100

async function captureOnce(
  device: Device,
  person: SimulatedPerson,
  memory: Memory,
  purpose?: 'match',
): Promise<LaunchState> {
  const { clock, onStep = () => {} } = person
  const spoof: Spoof = person.spoof ? SPOOFS[person.spoof] : { meaning: 'nothing is changed' }
  const challenge = await askChallenge(device, person, memory, purpose)
  await device.logEvent('challenge_received', challenge.attempt)
  onStep(`try ${challenge.attempt}: is asked to ${challenge.steps.map(({ movement }) => WORDS[movement]).join(', ')}`)
  const { vector, ...body } = person
  const tokenSteps = purpose === undefined ? memory.tokenSteps : undefined
  const honest = simulateCapture({
    ...(tokenSteps ? body : person),
    challenge: spoof.plan?.(challenge) ?? challenge,
  })
  const made: SimulatedCapture = spoof.change ? spoof.change(honest, challenge) : honest
  const { sessionId } = device
  const { conditions, proveKey } = person
  const metadata = {
    ...(conditions && { captureConditions: conditions }),
    ...(proveKey && { localProof: await proveKey({ sessionId, nonce: challenge.nonce }) }),
  }
  const plain: Capture = {
    ...made.capture,
    ...(person.claim && { local: await person.claim(challenge) }),
    ...(memory.document && purpose === undefined && { match: matchOf(memory.document) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
  await play(device, clock, made.moments)
  if (spoof.waitMs !== undefined) {
    onStep(`waits ${spoof.waitMs / 1000} seconds`)
    await clock.pass(spoof.waitMs)
  }
  const claims = vector && (await claimTokens(device, { tokenSteps, vector, nonce: challenge.nonce, onStep }))
  if (claims && 'failed' in claims) return claims.failed
  const capture: Capture = { ...plain, ...claims }
  const { frames, estimate } = capture
  const age = estimate.frames === 0 ? 'no estimate' : `estimate ${(estimate.age / 10).toFixed(1)} years`
  onStep(`submits ${frames.length} frames, ${age}`)
  if (!spoof.repeats) {
    const state = await device.submit(capture, person.selfie)
    if (state.errors.length === 0) memory.capture = challenge.nonce
    return state
  }
  await device.logEvent('submit')
  const sealed = await device.seal(await device.payloadOf(capture))
  await device.submitSealed(sealed)
  onStep('submits the same again')
  return device.submitSealed(sealed)
}

/** The first time, a person who needs another challenge says so when the first one is shown. The service remembers it. */
async function askChallenge(
  device: Device,
  { needs, onStep = () => {} }: SimulatedPerson,
  memory: Memory,
  purpose?: 'match',
): Promise<Challenge> {
  const first = await device.challenge(purpose, memory.saidNeeds ? needs : undefined)
  if (!needs || memory.saidNeeds) return first
  memory.saidNeeds = true
  const { cannot = [], pace } = needs
  const said = [
    ...(cannot.length > 0 ? [`cannot do this: ${cannot.join(', ')}`] : []),
    ...(pace ? ['needs more time'] : []),
  ]
  onStep(`says: ${said.join('; ')}`)
  return device.challenge(purpose, { ...needs, replaces: true })
}

/** What the capture says about tokens, or the state after a report that none could be sent. Nothing where vectors are sent. */
async function claimTokens(
  device: Device,
  made: { tokenSteps: TokenSteps; vector: ArrayLike<number>; nonce: string; onStep(step: string): void },
): Promise<Pick<Capture, 'token' | 'successor' | 'face'> | { failed: LaunchState }> {
  const { tokenSteps, vector, nonce, onStep } = made
  try {
    const { withVector, ...tokens } = (await tokenSteps?.claimsFor(vector, nonce)) ?? {}
    return { ...tokens, ...(withVector && { face: { version: 'FACE3_3', vector: encodeVector(vector) } }) }
  } catch (error) {
    if (!(error instanceof TokenFailed)) throw error
    const { code, reason } = error.failure
    onStep(`reports that no token or probe could be sent: ${reason}`)
    return { failed: await device.failure(code, reason) }
  }
}

const WORDS = {
  turn_left: 'turn left',
  turn_right: 'turn right',
  look_up: 'look up',
  blink: 'close the eyes for a moment',
  closer: 'come closer',
} as const

/** Logs each moment at its time. */
async function play(device: Device, clock: SimulatedClock, moments: readonly Moment[]): Promise<void> {
  let nowMs = 0
  for (const { type, n, atMs } of moments) {
    await clock.pass(Math.max(0, Math.round(atMs - nowMs)))
    nowMs = Math.max(nowMs, atMs)
    await device.logEvent(type, n)
  }
}

/** A failure that ends nothing was reported on the last try. */
function isGivenUp({ flowStatus, state, attemptsLeft }: LaunchState): boolean {
  return flowStatus === null && attemptsLeft === 0 && FACE_STATES.includes(state)
}

/** As the page does: the service ends the flow when another challenge is asked for. */
async function giveUp(device: Device): Promise<LaunchState> {
  await device.challenge().catch(() => {})
  return device.open()
}

/** Any other step needs what a simulated person does not have. */
function mayContinue({ flowStatus, state, attemptsLeft }: LaunchState, { document }: SimulatedPerson): boolean {
  if (flowStatus !== null) return false
  if (state === 'DOC_ACTIVE') return document !== undefined
  return attemptsLeft > 0 && FACE_STATES.includes(state)
}
