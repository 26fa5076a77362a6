import type { DeviceClock } from '@ostiary/device'
import type { Camera, OpenCamera } from '../camera/camera-types.ts'
import type { FaceCapture, RunCapture } from '../capture/capture-types.ts'
import type { Host } from '../embed/host.ts'
import type { Engine } from '../engine/engine.ts'
import type { Signals } from '../signals/index.ts'
import type { Address } from './address.ts'
import type { DeviceStorage } from './device-storage.ts'

/** What the parts of the flow need from the browser. main.tsx passes the real implementations; tests pass their own. */
export interface PageDeps {
  address: Address
  /** Origin of the API. */
  baseUrl: string
  clock: DeviceClock
  fetch: typeof globalThis.fetch
  storage: DeviceStorage
  engine: Engine
  openCamera: OpenCamera
  /** Whether opening a camera would fail at once. */
  isCameraOutOfReach(): Promise<boolean>
  runCapture: RunCapture
  collectSignals(camera: { label: string }): Promise<Signals>
  browser: BrowserFacts
  page: PageControls
  /** The current language of the page. */
  language(): string
  /** Switches to the session's language unless the user has chosen one. Resolves when the texts are loaded. */
  onLocale(locale: string): Promise<void>
}

export interface BrowserFacts {
  platform: 'mobile' | 'desktop'
  /** The browser's preferred language. */
  language: string
  /** How far the time zone is ahead of UTC; undefined if the browser does not say. */
  utcOffsetMinutes?: number | undefined
  isSecure: boolean
  hasCameraApi: boolean
  inApp: { name: string | null } | null
  /** The user has asked the browser to save data. */
  saveData?: boolean
}

/** What the flow does with the page besides changing its screens. */
export interface PageControls {
  /** Resolves after this time. Rejects when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** The same, but resolves at once when the network comes back. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  onVisibility(listener: (visible: boolean) => void): void
  /** Keeps the screen on, where the browser can, until it is called with false. */
  keepAwake(isAwake: boolean): void
  /** Reloads the page once the user focuses it. Two visible tabs would otherwise take the session from each other for ever. */
  renew(): void
  /** Calls the listener once, when somebody uses or reads the page (flow/activity.ts). */
  onActivity(listener: () => void): void
  /** Navigates to another page, which takes this one's place in the history. */
  leave(url: string): void
  findHost(origins: readonly string[]): Host | null
  close(): void
}

/** A capture with the signals of the browser and the size of the camera's pictures. */
export type FullCapture = FaceCapture & Signals & { metadata: { camera: Pick<Camera, 'width' | 'height'> } }
