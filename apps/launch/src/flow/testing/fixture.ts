import { isDeepStrictEqual } from 'node:util'
import { type Camera, CameraError, type CameraProblem } from '../../camera/camera-types.ts'
import type { FaceCapture, RunCapture } from '../../capture/capture-types.ts'
import type { HostEvent } from '../../embed/host.ts'
import type { Engine, LoadedModels } from '../../engine/engine.ts'
import type { BrowserFacts } from '../deps.ts'
import { createDeviceStorage, type KeptDevice } from '../device-storage.ts'
import type { FlowDeps } from '../flow-deps.ts'
import { createFlow } from '../run.ts'
import { databaseOf } from './indexed-db.ts'
import { createService, type Purpose, SESSION_ID } from './service.ts'

export const MODELS: LoadedModels = { id: 'faces-1', hash: 'A'.repeat(43), backend: 'wasm', threads: 1 }
const LONG_MS = 12_000
const START_MS = Date.UTC(2026, 0, 1)

/** A finished capture. The flow does not read its content. */
const CAPTURE: FaceCapture = {
  model: { id: MODELS.id, hash: MODELS.hash },
  estimate: { age: 312, spread: 9, frames: 5 },
  live: 940,
  frames: [],
}

export interface FlowFixtureOptions {
  answers?: Parameters<typeof createService>[0]
  /** One problem per request for the camera. When none is left, the camera starts. */
  cameras?: CameraProblem[]
  /** The browser says before it is asked that there is no camera. */
  cameraOutOfReach?: boolean
  /** The camera starts when this resolves. */
  cameraStarts?: Promise<void> | (() => Promise<void>)
  /** One per capture. When none is left, the capture succeeds. */
  captures?: RunCapture[]
  browser?: Partial<BrowserFacts>
  loadModels?: Engine['load']
  embedded?: boolean
  /** Pauses from this length on end when the test calls `letPass`. */
  longMs?: number
  hash?: string
  storage?: Map<string, KeptDevice>
  /** The page joined with a code before it was reloaded. */
  joined?: boolean
  purpose?: Purpose
  loadVerification?: FlowDeps['loadVerification']
  loadDocuments?: FlowDeps['loadDocuments']
  loadNumberScreen?: FlowDeps['loadNumberScreen']
  engine?: Partial<Engine>
  /** Takes a picture. Without it the camera never has one. */
  grab?: () => Promise<ImageBitmap>
}

/** Logs and shows what a successful capture does. */
export const goodCapture: RunCapture = async ({ challenge, log, onView }) => {
  const view = { guidance: null, movement: null, movementsSeen: 0, movementsTotal: 3, progress: 0 }
  onView({ ...view, phase: 'find', guidance: 'in_oval' })
  const { attempt } = await challenge()
  log('challenge_received', attempt)
  onView({ ...view, phase: 'challenge', movement: 'blink' })
  log('movement_shown', 1)
  log('movement_seen', 1)
  log('capture_done')
  onView({ ...view, phase: 'measure', movementsSeen: 1, progress: 1 })
  return CAPTURE
}

/** A capture that never finds a well-placed face. */
export const findingForEver: RunCapture = ({ onView, signal }) => {
  onView({
    phase: 'find',
    guidance: 'no_face',
    movement: null,
    movementsSeen: 0,
    movementsTotal: 0,
    progress: 0,
  })
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

/** A flow with test implementations of service, camera, capture, clock and page. Pauses take no time. */
export async function createFlowFixture(options: FlowFixtureOptions = {}) {
  const service = await createService(options.answers, options.purpose)
  const storage = options.storage ?? new Map<string, KeptDevice>()
  const seen = {
    sentToHost: [] as HostEvent[],
    left: [] as string[],
    locales: [] as string[],
    cameras: 0,
    /** What the flow asked of each camera; undefined: that of the face. */
    wanted: [] as (MediaTrackConstraints | undefined)[],
    running: 0,
    screens: [] as string[],
    /** How often the flow asked for a reload. */
    renewals: 0,
    /** Whether the screen had to stay on, at every change of the screen. */
    awake: [] as boolean[],
  }
  let monotonicMs = 0
  let language = 'ar'
  const watchers: ((visible: boolean) => void)[] = []
  const readers: (() => void)[] = []
  const setVisible = (visible: boolean) => {
    for (const watcher of watchers) watcher(visible)
  }
  const clock = { nowMs: () => START_MS + monotonicMs, monotonicMs: () => monotonicMs }
  const long: (() => void)[] = []
  /** Short pauses end at once, long ones when the test calls `letPass`. */
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const pass = () => {
        monotonicMs += ms
        resolve()
      }
      if (ms < (options.longMs ?? LONG_MS)) setImmediate(pass)
      else long.push(resolve)
    })
  const deps: FlowDeps = {
    address: {
      sessionId: SESSION_ID,
      handoffCode: options.hash ?? null,
      joined: options.joined ?? options.hash !== undefined,
      clean: `https://id.example/launch/?sessionId=${SESSION_ID}`,
    },
    baseUrl: 'https://id.example',
    clock,
    fetch: service.fetch,
    storage: createDeviceStorage(clock.nowMs, () => databaseOf(storage)),
    engine: {
      survey: async () => {},
      load: options.loadModels ?? (async () => MODELS),
      loadRest: async () => {},
      warmUp: async () => {},
      look: async () => ({ faces: 0, face: null }),
      measure: async () => null,
      embed: async () => new Float32Array(),
      selfie: async () => new Uint8Array(),
      keepFace: async () => {},
      findPortrait: async () => ({ is: 'none' }),
      comparePortrait: async () => undefined,
      forgetComparison: async () => {},
      begin: async () => {},
      close: () => {},
      ...options.engine,
    },
    isCameraOutOfReach: async () => options.cameraOutOfReach ?? false,
    async openCamera(wanted) {
      seen.cameras++
      seen.wanted.push(wanted)
      const problem = options.cameras?.shift()
      await (typeof options.cameraStarts === 'function' ? options.cameraStarts() : options.cameraStarts)
      if (problem) throw new CameraError(problem)
      seen.running++
      return cameraOf(() => {
        seen.running--
      }, options.grab)
    },
    runCapture: (capture) => (options.captures?.shift() ?? goodCapture)(capture),
    collectSignals: async () => ({ indicators: '0'.repeat(21), browser: { kind: 'ordinary' } }),
    loadVerification: options.loadVerification ?? (() => Promise.reject(new Error('An age check loads nothing more'))),
    loadDocuments: options.loadDocuments ?? (() => Promise.reject(new Error('This session never asks for a document'))),
    loadNumberScreen: options.loadNumberScreen ?? (async () => {}),
    browser: {
      platform: 'mobile',
      language: 'en',
      isSecure: true,
      hasCameraApi: true,
      inApp: null,
      ...options.browser,
    },
    page: {
      pause,
      wait: pause,
      onVisibility: (listener) => void watchers.push(listener),
      keepAwake: (isAwake) => void seen.awake.push(isAwake),
      renew: () => void seen.renewals++,
      onActivity: (listener) => void readers.push(listener),
      leave: (url) => void seen.left.push(url),
      findHost: () =>
        options.embedded ? { isListening: true, send: (event) => void seen.sentToHost.push(event) } : null,
      close: () => void seen.sentToHost.push({ event: 'closed' }),
    },
    language: () => language,
    onLocale: async (locale) => void seen.locales.push(locale),
  }
  const flow = createFlow(deps)
  flow.onChange(({ state }) => {
    if (state.at !== seen.screens.at(-1)) seen.screens.push(state.at)
  })
  return {
    flow,
    service,
    seen,
    storage,
    /** The page's texts are in another language now. */
    speak(tag: string) {
      language = tag
    },
    hide: () => setVisible(false),
    show: () => setVisible(true),
    /** Somebody uses the page, or reads it. */
    use() {
      for (const listener of readers.splice(0)) listener()
    },
    /** Advances the clock and ends every long pause. */
    letPass(ms: number) {
      monotonicMs += ms
      for (const pass of long.splice(0)) pass()
    },
    /** Starts, and consents. */
    async agree() {
      await flow.start()
      flow.actions.consent(true)
    },
    /** Resolves when the flow is in this state, with these facts; throws if it never gets there. */
    reaches: (at: string, facts: object = {}) =>
      until(
        () => isDeepStrictEqual({ ...flow.view().state, ...facts, at }, flow.view().state),
        () => `The flow is on ${JSON.stringify(flow.view().state)} and never reached "${at}"`,
      ),
    until: (holds: () => boolean) => until(holds, () => `It never became true: ${holds}`),
  }
}

async function until(holds: () => boolean, complaint: () => string): Promise<void> {
  for (let turns = 0; turns < 6_000; turns++) {
    if (holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(complaint())
}

function cameraOf(onStop: () => void, grab: FlowFixtureOptions['grab']): Camera {
  let stopped = false
  return {
    stream: undefined,
    label: 'Front camera',
    width: 640,
    height: 480,
    grab: grab ?? (() => Promise.reject(new Error('no pictures here'))),
    onEnded: () => {},
    stop() {
      if (!stopped) onStop()
      stopped = true
    },
  }
}
