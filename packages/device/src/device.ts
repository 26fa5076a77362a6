import type {
  CapturePayload,
  Challenge,
  DeviceKey,
  DocumentStep,
  Handoff,
  LaunchEventType,
  LaunchState,
  MovementKind,
  OpenBody,
  OpenedSession,
  PasskeyOptions,
} from '@ostiary/contract'
import { DOB_NOT_FOUND, DOCUMENT_UNREADABLE, DOCUMENT_UNSUPPORTED } from '@ostiary/contract/codes'
import { CONSENT_VERSION, CONSENT_VERSION_BEFORE, UTC_OFFSET_MINUTES_MAX } from '@ostiary/contract/limits'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { createDocumentCalls } from './document-calls.ts'
import { createEventCalls } from './event-calls.ts'
import { createEventLog, type DeviceClock, type SavedLog } from './event-log.ts'
import { loadSealing } from './load-sealing.ts'
import { createSignedCalls, type DeviceCryptoKey, DeviceError } from './signed-calls.ts'
import { readStates } from './state-stream.ts'
import { createTokenCalls } from './token-calls.ts'

export interface DeviceOptions {
  /** Address of the service, such as `https://ostiary.example.com`. */
  baseUrl: string
  /** From the launch URL. */
  sessionId: string
  platform: OpenBody['platform']
  clock: DeviceClock
  /** Language of the page (BCP 47), for sessions without a locale. */
  locale?: string
  /** How far the device's time zone is ahead of UTC. */
  utcOffsetMinutes?: number | undefined
  /** Not for browsers, which send their own. */
  userAgent?: string
  /** Per call. Default 30 seconds. */
  timeoutMs?: number
  /** The result of `save` before the page was reloaded. */
  saved?: SavedDevice
  fetch?: typeof globalThis.fetch
}

/** What a device must keep to stay the same device. The key cannot be read, but a browser can store it (IndexedDB). */
export interface SavedDevice {
  keys: { privateKey: DeviceCryptoKey; publicKey: DeviceCryptoKey }
  counter: number
  log: SavedLog
}

/** What a user needs of a challenge. */
export interface ChallengeNeeds {
  /** Kinds of movement that the user cannot make. */
  cannot?: readonly MovementKind[]
  pace?: 'slow'
  /** Replaces the challenge under way, which the user cannot meet. Costs no try. */
  replaces?: boolean
}

/** What was captured. Session, challenge and log are added when it is submitted. */
export type Capture = Omit<CapturePayload, 'v' | 'sessionId' | 'nonce' | 'attempt' | 'log'>

const TIMEOUT_MS = 30_000
const RECONNECT_MS = 1_000
const RECONNECT_MAX_MS = 15_000

/** One device in one session. It sends its calls one at a time, in order. */
export async function createDevice(options: DeviceOptions) {
  const { sessionId, clock, saved, userAgent } = options
  const keys = saved?.keys ?? (await crypto.subtle.generateKey(ECDSA, false, ['sign']))
  const publicKey = await exportPublicKey(keys.publicKey)
  const log = createEventLog(clock, saved?.log)
  const { withLock, post, stream, counter } = createSignedCalls({
    baseUrl: options.baseUrl,
    sessionId,
    privateKey: keys.privateKey,
    clock,
    counter: saved?.counter ?? 0,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    headers: userAgent === undefined ? {} : { 'user-agent': userAgent },
    fetch: options.fetch ?? globalThis.fetch,
  })
  let session: OpenedSession | undefined
  let current: Challenge | undefined
  /** The challenge is a look for the comparison with a document, and no try of the face step. */
  let isLook = false
  let lastState: LaunchState | undefined
  // The try of a call without an answer yet. The repeated call names the same try, so it counts once.
  let wanted: number | undefined
  let failing: { code: number; attempt: number } | undefined

  const opened = () => session ?? missing('open')
  const remember = <S extends LaunchState>(state: S): S => {
    lastState = state
    return state
  }
  const change = (path: string, body?: object) => withLock(async () => remember(await post<LaunchState>(path, body)))

  const seal = async (payload: object) => {
    const { sealPayload } = await loadSealing()
    return sealPayload(opened().sealKey, sessionId, payload)
  }
  const sealSelfie = (jpeg: Uint8Array) => seal({ jpeg: toBase64(jpeg) })
  const events = createEventCalls({ log, post, seal, remember })
  const documents = createDocumentCalls({ sessionId, log, events, withLock, post, remember })

  /** Call it only inside `withLock`. */
  async function nextChallenge(purpose?: 'match', { replaces, ...needs }: ChallengeNeeds = {}): Promise<Challenge> {
    failing = undefined
    if (isLook) current = undefined
    isLook = purpose === 'match'
    if (isLook) {
      current = await askChallenge(events.postWithLog, { for: 'match' }, needs)
      return current
    }
    const replaced = replaces ? current : undefined
    wanted ??= replaced?.attempt ?? Math.max(lastState?.attempt ?? 0, current?.attempt ?? 0) + 1
    current = await askChallenge(events.postWithLog, { attempt: wanted }, needs)
    wanted = undefined
    return current
  }

  async function toPayload(capture: Capture): Promise<CapturePayload> {
    const { nonce, attempt } = current ?? missing('challenge')
    return { v: 1, sessionId, nonce, attempt, ...capture, log: events.endOf(await log.read()) }
  }

  const postSubmit = async (sealed: string, selfie?: string) =>
    remember(await events.postSealed<LaunchState>(LAUNCH_PATHS.submit, sealed, selfie === undefined ? {} : { selfie }))

  return {
    sessionId,
    publicKey,
    get lastState() {
      return lastState
    },
    /** Binds the session to this device, continues it, or takes it over with a handoff code. */
    open: (handoffCode?: string): Promise<OpenedSession> =>
      withLock(async () => {
        const body = {
          deviceKey: publicKey,
          platform: options.platform,
          clientTime: Math.floor(clock.nowMs()),
          ...(options.locale !== undefined && { locale: options.locale }),
          ...(handoffCode !== undefined && { handoffCode }),
        }
        const zone = zoneOf(options.utcOffsetMinutes)
        session = await post<OpenedSession>(LAUNCH_PATHS.open, { ...body, ...zone }).catch((error: unknown) => {
          // During an upgrade the call may reach a process of the last release, which refuses a field that it does not know.
          const isRefused = error instanceof DeviceError && error.code === 'VALIDATION_FAILED'
          if (!zone || !isRefused) throw error
          return post<OpenedSession>(LAUNCH_PATHS.open, body)
        })
        events.opened(session)
        wanted = undefined
        failing = undefined
        return remember(session)
      }),
    /** `locale` is the language in which the user read the question, `version` that of its text: the one of this release. */
    consent(
      accepted: boolean,
      locale: string = opened().locale,
      version: string = consentVersionOf(opened(), CONSENT_VERSION),
    ): Promise<LaunchState> {
      return change(LAUNCH_PATHS.consent, { accepted, version, locale })
    },
    /** The version that a process of the last release knows, for the text of such a session. */
    consentVersionBefore: (): string => consentVersionOf(opened(), CONSENT_VERSION_BEFORE),
    /** Call it when the camera runs, because a challenge expires soon. */
    challenge: (purpose?: 'match', needs?: ChallengeNeeds): Promise<Challenge> =>
      withLock(() => nextChallenge(purpose, needs)),
    /** Writes to the log. It is sent with the next challenge, submit or failure, or by `flushEvents`. */
    logEvent: (type: LaunchEventType, n?: number): Promise<void> => log.append(type, n),
    /** Sends the entries that the server does not have, in calls of their own; undefined if it has all. */
    flushEvents: (): Promise<LaunchState | undefined> =>
      withLock(async () => events.sendAlone((await log.read()).pending)),
    /** Ends the log of this try with `submit`, seals the capture with the end of the log, and sends it. */
    submit: (capture: Capture, selfie?: Uint8Array): Promise<LaunchState> =>
      withLock(async () => {
        await log.append('submit')
        const sealed = await events.sealWithLog(await toPayload(capture))
        return postSubmit(sealed, selfie && (await sealSelfie(selfie)))
      }),
    /** The payload that `submit` would seal now, and the sealing, for callers that submit step by step. */
    payloadOf: toPayload,
    seal: events.sealWithLog,
    /** Sends a text of `seal`, once or again. `selfie` is the result of `sealSelfie`, if the session wants one. */
    submitSealed: (sealed: string, selfie?: string): Promise<LaunchState> => withLock(() => postSubmit(sealed, selfie)),
    /** A JPEG, sealed like a capture. */
    sealSelfie,
    documentStep: documents.begin,
    submitDocument: documents.submit,
    ...createTokenCalls({ withLock, post }),
    ...createStateCalls(change),
    ...createOtherCalls({ withLock, post }),
    /** Reports a step that failed on this device, with a session code. */
    failure: (code: number, reason?: string): Promise<LaunchState> =>
      withLock(async () => {
        wanted = undefined
        if (failing?.code !== code) {
          const look = isLook ? current : undefined
          failing = { code, attempt: attemptOf(code, { step: documents.step, look, current, lastState }) }
        }
        await log.append('failure', code)
        const body = { code, ...(reason !== undefined && { reason }), attempt: failing.attempt }
        const state = remember(await events.postWithLog<LaunchState>(LAUNCH_PATHS.failure, body))
        failing = undefined
        return state
      }),
    /** Continues here after a handoff, with a new log: the server now has the other device's log. */
    takeBack: (): Promise<LaunchState> =>
      withLock(async () => {
        current = undefined
        // Before the call: if the answer is lost and the page reloads, the saved log is the one that the server expects.
        await log.beginAnew()
        return remember(await post<LaunchState>(LAUNCH_PATHS.takeBack))
      }),
    /** Reports every state until the flow ends or the signal aborts. Reconnects after a lost connection. */
    async watch(onState: (state: LaunchState) => void, signal: AbortSignal): Promise<void> {
      for (let waitMs = RECONNECT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, RECONNECT_MAX_MS)) {
        try {
          for await (const state of readStates(await withLock(() => stream(LAUNCH_PATHS.status, signal)))) {
            onState(remember(state))
            if (state.flowStatus !== null) return
            waitMs = RECONNECT_MS
          }
        } catch (error) {
          if (signal.aborted) return
          if (error instanceof DeviceError && ![0, 429, 502, 503, 504].includes(error.status)) throw error
        }
        await pause(waitMs, signal)
      }
    },
    /** For the next page load: `createDevice({ …, saved })` is then the same device. */
    save: async (): Promise<SavedDevice> => ({ keys, counter: counter(), log: await log.read() }),
  }
}
export type Device = Awaited<ReturnType<typeof createDevice>>

/** Calls that send what they are given, and answer with the state. */
function createStateCalls(change: (path: string, body?: object) => Promise<LaunchState>) {
  return {
    passkeyVerify: (response: object): Promise<LaunchState> => change(LAUNCH_PATHS.passkeyVerify, { response }),
    cancel: (): Promise<LaunchState> => change(LAUNCH_PATHS.cancel),
    /** The user needs more time: once, where `open` says `mayExtend`. */
    extend: (): Promise<LaunchState> => change(LAUNCH_PATHS.extend),
    /** The two digits that the first screen shows. */
    number: (number: string): Promise<LaunchState> => change(LAUNCH_PATHS.number, { number }),
  }
}

/** Calls that send nothing, and do not answer with the state. */
function createOtherCalls({ withLock, post }: Pick<ReturnType<typeof createSignedCalls>, 'withLock' | 'post'>) {
  return {
    /** The options for the authenticator. Its answer goes to `passkeyVerify`, once. */
    passkeyOptions: (): Promise<PasskeyOptions> => withLock(() => post<PasskeyOptions>(LAUNCH_PATHS.passkeyOptions)),
    handoff: (): Promise<Handoff> => withLock(() => post<Handoff>(LAUNCH_PATHS.handoff)),
  }
}

/** Undefined for what no time zone has: a device with a wrong setting must still be able to open the session. */
function zoneOf(utcOffsetMinutes: number | undefined): Pick<OpenBody, 'utcOffsetMinutes'> | undefined {
  if (utcOffsetMinutes === undefined || !Number.isInteger(utcOffsetMinutes)) return undefined
  return Math.abs(utcOffsetMinutes) <= UTC_OFFSET_MINUTES_MAX ? { utcOffsetMinutes } : undefined
}

/** During an upgrade the call may reach a process of the last release, which refuses fields that it does not know. */
async function askChallenge(
  post: (path: string, body: object) => Promise<Challenge>,
  body: object,
  { cannot = [], pace }: ChallengeNeeds,
): Promise<Challenge> {
  if (cannot.length === 0 && !pace) return post(LAUNCH_PATHS.challenge, body)
  const needs = { ...(cannot.length > 0 && { cannot }), ...(pace && { pace }) }
  return post(LAUNCH_PATHS.challenge, { ...body, ...needs }).catch((error: unknown) => {
    if (!(error instanceof DeviceError) || error.code !== 'VALIDATION_FAILED') throw error
    return post(LAUNCH_PATHS.challenge, body)
  })
}

/** Of the text that the page of this release shows in such a session. */
function consentVersionOf(
  { verification }: OpenedSession,
  versions: Readonly<Record<keyof typeof CONSENT_VERSION, string>>,
): string {
  if (!verification) return versions.age
  return versions[(verification.templates ?? 'vector') === 'vector' ? 'verification' : 'token']
}

interface Tries {
  step: DocumentStep | undefined
  look: Challenge | undefined
  current: Challenge | undefined
  lastState: LaunchState | undefined
}

/** The try that a failure belongs to: the current one, or the next one where it failed before the challenge. */
function attemptOf(code: number, { step, look, current, lastState }: Tries): number {
  if (step && DOCUMENT_FAILURES.includes(code)) return step.attempt
  if (look) return look.attempt
  const { attempt, state } = lastState ?? { attempt: 0, state: '' }
  return Math.max(current?.attempt ?? 0, state === 'FACE_ACTIVE' ? attempt : attempt + 1)
}

/** Reports that count as a try of the document step. */
const DOCUMENT_FAILURES: readonly number[] = [DOCUMENT_UNREADABLE, DOCUMENT_UNSUPPORTED, DOB_NOT_FOUND]

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const

async function exportPublicKey(key: DeviceCryptoKey): Promise<DeviceKey> {
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key)
  return { kty: 'EC', crv: 'P-256', x, y }
}

/** In chunks: a whole picture has more bytes than a call can take as arguments. */
function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))
  }
  return btoa(text)
}
const PIECE_BYTES = 8192

function missing(call: string): never {
  throw new Error(`Call ${call}() first`)
}

/** Resolves early when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
