import { before, type TestContext } from 'node:test'
import { type Device, type DeviceOptions, startBrowser, type TestBrowser } from './browser.ts'
import { type LiveCamera, startLiveCamera } from './live-camera.ts'
import { type Visit, visitOn } from './visit.ts'

/** One browser with one puppet before its camera, shared by all tests of a process because both are slow to start. They end with the process. */
export interface Stage {
  camera: LiveCamera
  browser: TestBrowser
}

let stage: Promise<Stage> | undefined
let plainBrowser: Promise<TestBrowser> | undefined

function theStage(): Promise<Stage> {
  stage ??= startLiveCamera().then(async (camera) => ({ camera, browser: await startBrowser({ camera: camera.file }) }))
  return stage
}

/** Starts the puppet before the first test: it draws every movement in advance, which takes a while. */
export function setUpStage(): void {
  before(() => {
    theStage().catch(() => {}) // The first test that needs it gets the error.
  })
}

/** A browser on a machine without a camera. */
export function theBrowserWithoutCamera(): Promise<TestBrowser> {
  plainBrowser ??= startBrowser()
  return plainBrowser
}

export interface Visitor {
  visit: Visit
  device: Device
  camera: LiveCamera
}

/** For tests of whole flows: long enough for three attempts on a machine that stalls. */
export const WHOLE_FLOW = { timeout: 300_000 } as const

/** A visitor with a new device that has never opened the page. The device is closed after the test. */
export async function someone(t: TestContext, options?: DeviceOptions): Promise<Visitor> {
  const { camera, browser } = await theStage()
  t.after(() => camera.show('rest'))
  return { ...(await visitorIn(browser, t, options)), camera }
}

/** A visitor whose device has no camera. The models are not loaded either: without a face they would only take time. */
export async function someoneWithoutCamera(t: TestContext, options?: DeviceOptions) {
  const visitor = await visitorIn(await theBrowserWithoutCamera(), t, options)
  visitor.device.proxy.hold = ({ path }) => (MODEL_OR_RUNTIME.test(path) ? new Promise(() => {}) : undefined)
  return visitor
}
const MODEL_OR_RUNTIME = /^\/launch\/(models|ort)\//

async function visitorIn(browser: TestBrowser, t: TestContext, options?: DeviceOptions) {
  const device = await browser.device(options)
  t.after(() => device.close())
  return { visit: visitOn(await device.page()), device }
}
