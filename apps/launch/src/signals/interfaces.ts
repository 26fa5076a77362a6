import type { Engine } from './engines.ts'

/**
 * Interfaces that no setting of an ordinary browser removes, with the first version of each engine that has them on every system.
 * Interfaces that settings, policies or privacy modes switch off (WebRTC, notifications, IndexedDB, WebAssembly in lockdown mode)
 * do not belong here: their absence would flag careful users.
 */
export const EXPECTED_INTERFACES: Readonly<Record<string, Readonly<Record<Engine['name'], number>>>> = {
  customElements: { chromium: 54, gecko: 63, webkit: 10.3 },
  IntersectionObserver: { chromium: 58, gecko: 55, webkit: 12.2 },
  ResizeObserver: { chromium: 64, gecko: 69, webkit: 13.4 },
  AbortController: { chromium: 66, gecko: 57, webkit: 12.2 },
  ReadableStream: { chromium: 52, gecko: 65, webkit: 10.3 },
  BigInt: { chromium: 67, gecko: 68, webkit: 14 },
  queueMicrotask: { chromium: 71, gecko: 69, webkit: 12.2 },
  createImageBitmap: { chromium: 59, gecko: 42, webkit: 15 },
  BroadcastChannel: { chromium: 54, gecko: 38, webkit: 15.4 },
  structuredClone: { chromium: 98, gecko: 94, webkit: 15.4 },
}

/** Whether an engine of this version must have the interface. */
export function isExpected(name: string, { name: engine, version }: Engine): boolean {
  const first = EXPECTED_INTERFACES[name]
  return first !== undefined && version >= first[engine]
}
