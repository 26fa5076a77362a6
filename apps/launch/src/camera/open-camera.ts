import { type Camera, CameraError, type OpenCamera } from './camera-types.ts'
import { createFreshFrames } from './fresh-frames.ts'
import { type CameraSituation, isTooPicky, problemBefore, problemOf } from './problems.ts'
import { watchTrack } from './track-watch.ts'

/** More pixels only cost time: the nets scale a face down to at most 256 pixels. */
const FACE: MediaTrackConstraints = {
  facingMode: 'user',
  width: { ideal: 640 },
  height: { ideal: 480 },
  frameRate: { ideal: 30 },
}
const FIRST_PICTURE_MS_MAX = 10_000

/**
 * The one owner of the cameras. It opens a camera and resolves when the first picture has arrived. At most one runs: phones cannot open the
 * front and the rear camera together, so the one before is stopped first. Rejects with CameraError.
 */
export function createCameraOwner(): OpenCamera {
  let current: Camera | undefined
  return async (wanted) => {
    current?.stop()
    current = undefined
    const opened = await openCamera(wanted ?? FACE)
    current = opened
    return opened
  }
}

async function openCamera(wanted: MediaTrackConstraints): Promise<Camera> {
  const situation = readSituation()
  const problem = problemBefore(situation)
  if (problem) throw new CameraError(problem)
  const stream = await askForStream(wanted).catch((error) => {
    throw new CameraError(problemOf(error, situation), error)
  })
  const video = createVideo(stream)
  try {
    await firstPicture(video)
    return cameraOf(stream, video)
  } catch (error) {
    for (const track of stream.getTracks()) track.stop()
    video.remove()
    throw new CameraError('in_use', error)
  }
}

/** Whether opening a camera would fail at once: the device has no camera, or the browser is set to refuse it. */
export async function isCameraOutOfReach(): Promise<boolean> {
  if (problemBefore(readSituation())) return true
  try {
    const [devices, permission] = await Promise.all([
      navigator.mediaDevices.enumerateDevices(),
      navigator.permissions.query({ name: 'camera' }),
    ])
    return permission.state === 'denied' || !devices.some(({ kind }) => kind === 'videoinput')
  } catch {
    // Some browsers do not say.
    return false
  }
}

function readSituation(): CameraSituation {
  // Browsers use two names, some have neither, and the DOM types know none of them.
  const policies: Document & { permissionsPolicy?: Policy; featurePolicy?: Policy } = document
  const policy = policies.permissionsPolicy ?? policies.featurePolicy
  return {
    secure: isSecureContext,
    // Insecure pages and some in-app browsers do not have it.
    hasApi: typeof navigator.mediaDevices?.getUserMedia === 'function',
    policyAllows: policy?.allowsFeature('camera'),
  }
}

interface Policy {
  allowsFeature(feature: string): boolean
}

async function askForStream(video: MediaTrackConstraints): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({ video, audio: false })
  } catch (error) {
    if (!isTooPicky(error)) throw error
    return navigator.mediaDevices.getUserMedia({ video: true, audio: false })
  }
}

/** A second video element beside the preview. Some browsers decode frames only for elements in the document. */
function createVideo(stream: MediaStream): HTMLVideoElement {
  const video = document.createElement('video')
  video.muted = true
  video.playsInline = true
  video.srcObject = stream
  video.setAttribute('aria-hidden', 'true')
  video.tabIndex = -1
  const hidden = { position: 'fixed', top: '0', left: '0', width: '1px', height: '1px', opacity: '0' }
  Object.assign(video.style, { ...hidden, 'pointer-events': 'none' })
  document.body.append(video)
  return video
}

async function firstPicture(video: HTMLVideoElement): Promise<void> {
  const signal = AbortSignal.timeout(FIRST_PICTURE_MS_MAX)
  const shown = new Promise<void>((resolve, reject) => {
    if (video.readyState >= video.HAVE_CURRENT_DATA) resolve()
    video.addEventListener('loadeddata', () => resolve(), { once: true })
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  await Promise.all([video.play(), shown])
}

function cameraOf(stream: MediaStream, video: HTMLVideoElement): Camera {
  const [track] = stream.getVideoTracks()
  if (!track) throw new Error('The stream has no picture')
  const frames = createFreshFrames(video)
  let ended = track.readyState === 'ended'
  const listeners: (() => void)[] = []
  const watch = watchTrack(
    track,
    () => document.visibilityState === 'visible',
    () => {
      ended = true
      for (const listener of listeners) listener()
    },
  )
  return {
    stream,
    label: track.label,
    // When the phone is rotated, its pictures rotate too.
    get width() {
      return video.videoWidth
    },
    get height() {
      return video.videoHeight
    },
    async grab() {
      await frames.next()
      return createImageBitmap(video)
    },
    onEnded(listener) {
      if (ended) listener()
      else listeners.push(listener)
    },
    stop() {
      watch.stop()
      for (const one of stream.getTracks()) one.stop()
      video.srcObject = null
      video.remove()
    },
  }
}
