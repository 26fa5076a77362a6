import type {
  CapturePayload,
  Challenge,
  DeviceKey,
  Handoff,
  LaunchEventType,
  LaunchState,
  OpenBody,
  OpenedSession,
  PasskeyOptions,
} from '@ostiary/contract'
import { EVENTS_PER_CALL } from '@ostiary/contract/limits'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { sealPayload } from '@ostiary/crypto'
import { createEventLog, type DeviceClock, type SavedLog } from './event-log.ts'
import { createSignedCalls, type DeviceCryptoKey, DeviceError } from './signed-calls.ts'
import { readStates } from './state-stream.ts'

export interface DeviceOptions {
  /** Address of the service, such as `https://ostiary.example.com`. */
  baseUrl: string
  /** From the launch URL. */
  sessionId: string
  platform: OpenBody['platform']
  clock: DeviceClock
  /** Language of the page (BCP 47), when the session names none. */
  locale?: string
  /** Browsers send their own. */
  userAgent?: string
  /** Per call. Default 30 seconds. */
  timeoutMs?: number
  /** What `save` gave before the page was reloaded. */
  saved?: SavedDevice
  fetch?: typeof globalThis.fetch
}

/** What a device must keep to stay the same device. The key cannot be read, but a browser can store it (IndexedDB). */
export interface SavedDevice {
  keys: { privateKey: DeviceCryptoKey; publicKey: DeviceCryptoKey }
  counter: number
  log: SavedLog
}

/** What was captured. Session, challenge and log are added when it is submitted. */
export type Capture = Omit<CapturePayload, 'v' | 'sessionId' | 'nonce' | 'attempt' | 'log'>

const TIMEOUT_MS = 30_000
const RECONNECT_MS = 1_000
const RECONNECT_MAX_MS = 15_000

/** One device in one session. Its calls go out one after the other, in the order in which they were made. */
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
  let lastState: LaunchState | undefined
  // The try that a call was about whose answer has not come: said again it is about the same one, and counts once.
  let wanted: number | undefined
  let failing: number | undefined

  const opened = () => session ?? missing('open')
  /** The try that is under way, or the next one: a failure before the challenge is one too. */
  const openAttempt = () => {
    const { attempt, state } = lastState ?? { attempt: 0, state: '' }
    return Math.max(current?.attempt ?? 0, state === 'FACE_ACTIVE' ? attempt : attempt + 1)
  }
  const remember = <S extends LaunchState>(state: S): S => {
    lastState = state
    return state
  }
  const change = (path: string, body?: object) => withLock(async () => remember(await post<LaunchState>(path, body)))

  /** To be called in turn. */
  async function sendEvents({ pending }: SavedLog): Promise<LaunchState | undefined> {
    let state: LaunchState | undefined
    for (let from = 0; from < pending.length; from += EVENTS_PER_CALL) {
      const events = pending.slice(from, from + EVENTS_PER_CALL)
      state = remember(await post<LaunchState>(LAUNCH_PATHS.events, { events }))
      log.confirm(events.at(-1)?.seq ?? 0)
    }
    return state
  }

  function toPayload(capture: Capture, { seq, hash }: SavedLog): CapturePayload {
    const { nonce, attempt } = current ?? missing('challenge')
    return { v: 1, sessionId, nonce, attempt, ...capture, log: { seq, hash } }
  }

  const seal = (payload: object) => sealPayload(opened().sealKey, sessionId, payload)
  const sealSelfie = (jpeg: Uint8Array) => seal({ jpeg: toBase64(jpeg) })

  return {
    sessionId,
    publicKey,
    get lastState() {
      return lastState
    },
    /** Binds the session to this device, goes on with it, or takes it over with the code of a handoff. */
    open: (handoffCode?: string): Promise<OpenedSession> =>
      withLock(async () => {
        const body = {
          deviceKey: publicKey,
          platform: options.platform,
          clientTime: Math.floor(clock.nowMs()),
          ...(options.locale !== undefined && { locale: options.locale }),
          ...(handoffCode !== undefined && { handoffCode }),
        }
        session = await post<OpenedSession>(LAUNCH_PATHS.open, body)
        wanted = undefined
        failing = undefined
        return remember(session)
      }),
    /** `locale` is the language in which the question was read: a user may have changed it. */
    consent(accepted: boolean, locale: string = opened().locale): Promise<LaunchState> {
      return change(LAUNCH_PATHS.consent, { accepted, version: opened().consentVersion, locale })
    },
    /** To be asked for when the camera runs: its time is short. */
    challenge: (): Promise<Challenge> =>
      withLock(async () => {
        failing = undefined
        wanted ??= Math.max(lastState?.attempt ?? 0, current?.attempt ?? 0) + 1
        current = await post<Challenge>(LAUNCH_PATHS.challenge, { attempt: wanted })
        wanted = undefined
        return current
      }),
    /** Writes to the log. Nothing is sent until `flushEvents` or `submit`. */
    logEvent: (type: LaunchEventType, n?: number): Promise<void> => log.append(type, n),
    /** Sends what the server does not have yet; undefined when it has everything. */
    flushEvents: (): Promise<LaunchState | undefined> => withLock(async () => sendEvents(await log.read())),
    /** Ends the log of this try with `submit`, sends it, and seals the capture together with where the log ends. */
    submit: (capture: Capture, selfie?: Uint8Array): Promise<LaunchState> =>
      withLock(async () => {
        await log.append('submit')
        // What is logged from here on is sent later: the server compares the end of its log with the one in the payload.
        const end = await log.read()
        const payload = toPayload(capture, end)
        await sendEvents(end)
        const picture = selfie && { selfie: await sealSelfie(selfie) }
        return remember(await post<LaunchState>(LAUNCH_PATHS.submit, { sealed: await seal(payload), ...picture }))
      }),
    /** `selfie` is what `sealSelfie` made, where the session wants one. */
    submitSealed: (sealed: string, selfie?: string): Promise<LaunchState> =>
      change(LAUNCH_PATHS.submit, { sealed, ...(selfie !== undefined && { selfie }) }),
    /** What `submit` would seal now, and the seal by itself: for whoever wants to try something else. */
    payloadOf: async (capture: Capture): Promise<CapturePayload> => toPayload(capture, await log.read()),
    seal,
    /** A JPEG, sealed like a capture. */
    sealSelfie,
    /** What to ask the authenticator for. Its answer goes to `passkeyVerify`, once. */
    passkeyOptions: (): Promise<PasskeyOptions> => withLock(() => post<PasskeyOptions>(LAUNCH_PATHS.passkeyOptions)),
    passkeyVerify: (response: object): Promise<LaunchState> => change(LAUNCH_PATHS.passkeyVerify, { response }),
    /** A step failed here, with one of the session codes. */
    failure: (code: number, reason?: string): Promise<LaunchState> =>
      withLock(async () => {
        wanted = undefined
        failing ??= openAttempt()
        await log.append('failure', code)
        await sendEvents(await log.read())
        const body = { code, ...(reason !== undefined && { reason }), attempt: failing }
        const state = remember(await post<LaunchState>(LAUNCH_PATHS.failure, body))
        failing = undefined
        return state
      }),
    cancel: (): Promise<LaunchState> => change(LAUNCH_PATHS.cancel),
    handoff: (): Promise<Handoff> => withLock(() => post<Handoff>(LAUNCH_PATHS.handoff)),
    /** Goes on here after a handoff. The log begins anew: the one before was the other device's. */
    takeBack: (): Promise<LaunchState> =>
      withLock(async () => {
        current = undefined
        // First: should the answer be lost and the page be loaded again, the log that was kept is the one the server has.
        await log.beginAnew()
        return remember(await post<LaunchState>(LAUNCH_PATHS.takeBack))
      }),
    /** Tells every change until the flow ends or the signal does. A lost connection is made again. */
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

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const

async function exportPublicKey(key: DeviceCryptoKey): Promise<DeviceKey> {
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key)
  return { kty: 'EC', crv: 'P-256', x, y }
}

/** In pieces: a whole picture is more than one call takes as arguments. */
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

/** Ends early when the signal does. */
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
