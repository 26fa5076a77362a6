/** Runs a capture with a fake camera, a fake engine and virtual time. Only tests import this. */
import type { Challenge } from '@ostiary/contract'
import type { Sighting } from '@ostiary/faces'
import type { Camera } from '../../camera/camera-types.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CaptureDeps, CaptureOutputs, CaptureView, FaceCapture } from '../capture-types.ts'
import { runCapture } from '../run-capture.ts'
import { createPerson, type Person, seeded } from './person.ts'
import { startVirtualTime, type VirtualTime } from './virtual-time.ts'

export const MODELS = { id: 'test', hash: 'r'.repeat(43), backend: 'wasm', threads: 1 } as const

export interface LoggedMoment {
  type: Parameters<CaptureDeps['log']>[0]
  n?: number
  t: number
}

export interface TestCaptureOptions {
  challenge: Challenge
  seed?: number
  person?: Person
  /** Time between two frames of the camera. */
  frameMs?: number
  /** How long the engine takes. */
  lookMs?: number
  measureMs?: number
  /** Changes what the engine reports. */
  sight?: (sighting: Sighting, atMs: number) => Sighting
  /** The phone is upright until then and sideways afterwards. */
  turnedAtMs?: number
  /** Whether the camera has a picture at this time. */
  hasPicture?: (atMs: number) => boolean
  /** Called when the capture starts, with controls for the test. */
  onStart?: (controls: {
    time: VirtualTime
    endCamera(): void
    abort(reason: Error): void
    startAnyway(): void
  }) => void
  engine?: Partial<Engine>
  outputs?: CaptureOutputs
  readyMs?: number
}

export interface TestCapture {
  capture: FaceCapture
  log: LoggedMoment[]
  views: CaptureView[]
  /** Pictures that were never closed: each would hold its memory for ever. */
  openPictures: number
  tookMs: number
}

/** Runs one capture to its end. Rejects if the capture does. */
export async function runTestCapture(options: TestCaptureOptions): Promise<TestCapture> {
  const time = startVirtualTime()
  try {
    const person = options.person ?? createPerson({ random: seeded(options.seed ?? 1) })
    const log: LoggedMoment[] = []
    const views: CaptureView[] = []
    const pictures = new Set<object>()
    const leave = new AbortController()
    const startAnyway = new AbortController()
    const { camera, endCamera } = fakeCamera(time, pictures, options)
    const startedMs = time.clock.monotonicMs()
    const running = runCapture({
      camera,
      engine: { ...fakeEngine(time, person, options), ...options.engine },
      models: MODELS,
      outputs: options.outputs ?? { ages: true, selfie: false },
      clock: time.clock,
      readyMs: () => options.readyMs ?? 0,
      challenge: async () => {
        await time.sleep(80)
        return options.challenge
      },
      log: (type, n) => log.push({ type, ...(n !== undefined && { n }), t: time.clock.monotonicMs() }),
      onView(view) {
        views.push(view)
        person.read(view.movement, time.clock.monotonicMs())
      },
      startAnyway: startAnyway.signal,
      signal: leave.signal,
    })
    options.onStart?.({
      time,
      endCamera,
      abort: (reason) => leave.abort(reason),
      startAnyway: () => startAnyway.abort(),
    })
    const capture = await time.pass(running)
    return { capture, log, views, openPictures: pictures.size, tookMs: time.clock.monotonicMs() - startedMs }
  } finally {
    time.end()
  }
}

interface Picture {
  atMs: number
  close(): void
}

function fakeCamera(time: VirtualTime, pictures: Set<object>, options: TestCaptureOptions) {
  const { frameMs = 33, hasPicture, turnedAtMs = 0 } = options
  const listeners: (() => void)[] = []
  const isTurned = () => time.clock.monotonicMs() >= turnedAtMs
  const camera: Camera = {
    stream: undefined,
    label: 'test',
    get width() {
      return isTurned() ? 640 : 480
    },
    get height() {
      return isTurned() ? 480 : 640
    },
    async grab() {
      await time.sleep(frameMs - (time.clock.monotonicMs() % frameMs))
      const atMs = time.clock.monotonicMs()
      if (hasPicture && !hasPicture(atMs)) throw new Error('No new picture')
      const picture: Picture = { atMs, close: () => pictures.delete(picture) }
      pictures.add(picture)
      return asBitmap(picture)
    },
    onEnded: (listener) => listeners.push(listener),
    stop: () => {},
  }
  return {
    camera,
    endCamera: () => {
      for (const listener of listeners) listener()
    },
  }
}

/** Does one thing at a time, as the worker does. */
function fakeEngine(time: VirtualTime, person: Person, options: TestCaptureOptions): Engine {
  const { lookMs = 90, measureMs = 400, sight = (sighting) => sighting } = options
  let last: Promise<unknown> = Promise.resolve()
  const oneAtATime = <T>(ms: number, bitmap: ImageBitmap, result: (atMs: number) => T): Promise<T> => {
    const { atMs } = asPicture(bitmap)
    const done = last.then(() => time.sleep(ms)).then(() => result(atMs))
    bitmap.close()
    last = done
    return done
  }
  const seen = (atMs: number) => sight({ faces: 1, face: person.faceAt(atMs) }, atMs)
  return {
    survey: async () => {},
    load: async () => MODELS,
    loadRest: async () => {},
    warmUp: async () => {},
    look: (bitmap) => oneAtATime(lookMs, bitmap, seen),
    measure: (bitmap) => oneAtATime(measureMs, bitmap, (atMs) => (seen(atMs).face ? person.measuredAt(atMs) : null)),
    embed: async () => new Float32Array(512),
    selfie: async () => new Uint8Array(),
    keepFace: async () => {},
    findPortrait: async () => ({ is: 'none' }),
    comparePortrait: async () => undefined,
    forgetComparison: async () => {},
    begin: async () => {},
    close: () => {},
  }
}

/** The capture passes pictures on and closes them but never reads them, so an object is enough. */
const asBitmap = (picture: Picture) => picture as unknown as ImageBitmap
const asPicture = (bitmap: ImageBitmap) => bitmap as unknown as Picture
