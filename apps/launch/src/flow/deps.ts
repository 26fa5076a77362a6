import type { DeviceClock } from '@ostiary/device'
import type { Camera } from '../camera/camera-types.ts'
import type { FaceCapture, RunCapture } from '../capture/capture-types.ts'
import type { Host } from '../embed/host.ts'
import type { Engine } from '../engine/engine.ts'
import type { Signals } from '../signals/index.ts'
import type { Address } from './address.ts'
import type { DeviceStorage } from './device-storage.ts'

/** What every part of the flow needs of the browser. The page passes the real things; tests pass recorded ones. */
export interface PageDeps {
  address: Address
  /** Address of the API, without a path. */
  baseUrl: string
  clock: DeviceClock
  fetch: typeof globalThis.fetch
  storage: DeviceStorage
  engine: Engine
  openCamera(): Promise<Camera>
  runCapture: RunCapture
  collectSignals(camera: { label: string }): Promise<Signals>
  browser: BrowserFacts
  page: PageControls
  /** The language in which the page is read at this moment. */
  language(): string
  /** The session asks for this language. The page takes it if its user has not chosen one, and resolves when the texts are loaded. */
  onLocale(locale: string): Promise<void>
}

export interface BrowserFacts {
  platform: 'mobile' | 'desktop'
  /** Of the browser, most wanted first. */
  language: string
  isSecure: boolean
  hasCameraApi: boolean
  inApp: { name: string | null } | null
}

/** What the flow does to the page beside changing its screens. */
export interface PageControls {
  /** Resolves after the time. Rejects when the signal ends. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** The same, but no longer than until the network comes back. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  onVisibility(listener: (visible: boolean) => void): void
  /** Loads this page anew, but not before its user is with it: two tabs side by side would otherwise take turns for ever. */
  renew(): void
  /** Goes to another page. */
  leave(url: string): void
  findHost(origins: readonly string[]): Host | null
  close(): void
}

/** A capture, with what the page knows of the browser. */
export type FullCapture = FaceCapture & Signals
