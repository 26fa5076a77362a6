import type { DeviceClock } from '@ostiary/device'
import type { Answers, Probes, WebGLFacts } from './environment.ts'
import { at, call, isReachable, list, number, text, tryCall } from './reach.ts'

/** Time limit of every probe. A probe that hangs is not evaluated, because a slow device is not suspicious. */
export const PROBE_MS_MAX = 300
export const TIMER_MS = 40
/** Seven intervals: a screen of 30 Hz shows that many frames within the time limit. */
const FRAMES = 8

/** The asynchronous questions to a browser. None of them opens a camera or sends anything. */
export function createProbes(globals: object, clock: DeviceClock): Probes {
  return {
    webGL: async () => readWebGL(globals),
    webRTC: () => tryWebRTC(globals),
    notificationPermission: async () =>
      text(at(await call(at(globals, 'navigator', 'permissions'), 'query', { name: 'notifications' }), 'state')),
    cameras: () => listCameras(globals),
    frameTimesMs: () => watchFrames(globals),
    timerTookMs: () => timeTimer(globals, clock),
  }
}

/** Runs all probes at once. A probe that fails or hangs gives undefined. Never rejects. */
export async function askAll(probes: Probes): Promise<Answers> {
  const [webGL, webRTC, notificationPermission, cameras, frameTimesMs, timerTookMs] = await Promise.all([
    inTime(probes.webGL),
    inTime(probes.webRTC),
    inTime(probes.notificationPermission),
    inTime(probes.cameras),
    inTime(probes.frameTimesMs),
    inTime(probes.timerTookMs),
  ])
  return { webGL, webRTC, notificationPermission, cameras, frameTimesMs, timerTookMs }
}

function inTime<T>(probe: () => Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), PROBE_MS_MAX)
    const answer = (value: T | undefined) => {
      clearTimeout(timer)
      resolve(value)
    }
    try {
      probe().then(answer, () => answer(undefined))
    } catch {
      answer(undefined)
    }
  })
}

/** Releases the context at once: browsers allow a page only a few. */
function readWebGL(globals: object): WebGLFacts | null | undefined {
  const canvas = tryCall(at(globals, 'document'), 'createElement', 'canvas')
  if (typeof at(canvas, 'getContext') !== 'function') return undefined
  const context = call(canvas, 'getContext', 'webgl')
  if (!isReachable(context)) return null
  const names = tryCall(context, 'getExtension', 'WEBGL_debug_renderer_info')
  const vendor = isReachable(names) ? at(names, 'UNMASKED_VENDOR_WEBGL') : at(context, 'VENDOR')
  const renderer = isReachable(names) ? at(names, 'UNMASKED_RENDERER_WEBGL') : at(context, 'RENDERER')
  const facts = {
    vendor: text(tryCall(context, 'getParameter', vendor)) ?? '',
    renderer: text(tryCall(context, 'getParameter', renderer)) ?? '',
  }
  tryCall(tryCall(context, 'getExtension', 'WEBGL_lose_context'), 'loseContext')
  return facts
}

/** Creates an offer and discards it. It is never set, so that no address of the device is looked up. */
async function tryWebRTC(globals: object): Promise<'missing' | 'fails' | 'works'> {
  const Connection = at(globals, 'RTCPeerConnection')
  if (typeof Connection !== 'function') return 'missing'
  let connection: unknown
  try {
    connection = Reflect.construct(Connection, [])
    call(connection, 'createDataChannel', 'probe')
    const offer = await call(connection, 'createOffer')
    return text(at(offer, 'sdp'))?.includes('a=fingerprint:') ? 'works' : 'fails'
  } catch {
    return 'fails'
  } finally {
    tryCall(connection, 'close')
  }
}

async function listCameras(globals: object): Promise<{ failed: boolean; count: number } | undefined> {
  const devices = at(globals, 'navigator', 'mediaDevices')
  if (typeof at(devices, 'enumerateDevices') !== 'function') return undefined
  try {
    const found = list(await call(devices, 'enumerateDevices'))
    if (!found) return { failed: true, count: 0 }
    return { failed: false, count: found.filter((device) => at(device, 'kind') === 'videoinput').length }
  } catch {
    return { failed: true, count: 0 }
  }
}

function watchFrames(globals: object): Promise<readonly number[] | undefined> {
  return new Promise((resolve) => {
    if (typeof at(globals, 'requestAnimationFrame') !== 'function') return resolve(undefined)
    const timesMs: number[] = []
    const next = (timeMs: unknown) => {
      timesMs.push(number(timeMs) ?? Number.NaN)
      if (timesMs.length < FRAMES) call(globals, 'requestAnimationFrame', next)
      else resolve(timesMs.some(Number.isNaN) ? undefined : timesMs)
    }
    call(globals, 'requestAnimationFrame', next)
  })
}

function timeTimer(globals: object, clock: DeviceClock): Promise<number | undefined> {
  return new Promise((resolve) => {
    if (typeof at(globals, 'setTimeout') !== 'function') return resolve(undefined)
    const startMs = clock.monotonicMs()
    call(globals, 'setTimeout', () => resolve(clock.monotonicMs() - startMs), TIMER_MS)
  })
}
