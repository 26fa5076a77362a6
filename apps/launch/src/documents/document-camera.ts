import type { Camera } from '../camera/camera-types.ts'
import type { CameraChoice } from './document-types.ts'

/** A card that fills the frame then has 16 pixels per character of its lines (docs/documents.md). */
const SIZE = { width: { ideal: 1920 }, height: { ideal: 1080 } } as const

/** The rear camera where there is one, or the camera that the user chose. */
export function documentConstraints(cameraId: string | null): MediaTrackConstraints {
  return cameraId === null
    ? { facingMode: { ideal: 'environment' }, ...SIZE }
    : { deviceId: { exact: cameraId }, ...SIZE }
}

/** What a running camera can do besides giving pictures. */
export interface CameraControls {
  /** Every camera of this device. Browsers name them only once one of them runs. */
  list(): Promise<CameraChoice[]>
  idOf(camera: Camera): string | null
  /** Null: it has no light. */
  torchOf(camera: Camera): boolean | null
  /** Returns whether the light is on now: a camera may ignore the request. */
  setTorch(camera: Camera, on: boolean): Promise<boolean>
  /** Asks for continuous focus, where the camera says that it can. */
  focus(camera: Camera): Promise<void>
}

/** Members that the DOM types lack. */
interface MoreCapabilities extends MediaTrackCapabilities {
  torch?: boolean
  focusMode?: string[]
}
interface MoreSettings extends MediaTrackSettings {
  torch?: boolean
}

export function createCameraControls(devices: Pick<MediaDevices, 'enumerateDevices'>): CameraControls {
  const trackOf = ({ stream }: Camera) => stream?.getVideoTracks()[0]
  const capabilitiesOf = (camera: Camera): MoreCapabilities => trackOf(camera)?.getCapabilities?.() ?? {}
  const settingsOf = (camera: Camera): MoreSettings => trackOf(camera)?.getSettings() ?? {}
  const ask = async (camera: Camera, settings: object) => {
    // A list of supported constraints says nothing about this camera, and a camera may still refuse.
    await trackOf(camera)
      ?.applyConstraints({ advanced: [settings] })
      .catch(() => {})
  }
  return {
    async list() {
      const all = await devices.enumerateDevices().catch(() => [])
      return all.flatMap(({ kind, deviceId, label }) =>
        kind === 'videoinput' && deviceId !== '' ? [{ id: deviceId, label }] : [],
      )
    },
    idOf: (camera) => settingsOf(camera).deviceId ?? null,
    torchOf: (camera) => (capabilitiesOf(camera).torch ? settingsOf(camera).torch === true : null),
    async setTorch(camera, on) {
      await ask(camera, { torch: on })
      return settingsOf(camera).torch === true
    },
    async focus(camera) {
      if (capabilitiesOf(camera).focusMode?.includes('continuous')) await ask(camera, { focusMode: 'continuous' })
    },
  }
}
