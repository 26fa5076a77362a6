import { before, type TestContext } from 'node:test'
import { type Device, type DeviceOptions, startBrowser, type TestBrowser } from './browser.ts'
import { type LiveCamera, startLiveCamera } from './live-camera.ts'
import { type Visit, visitOn } from './visit.ts'

/** One browser and one puppet for all tests of a process, because both are slow to start. They end with the process. */
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

/** The puppet draws every movement beforehand, which takes a while: it begins before the first test that needs it. */
export function setUpStage(): void {
  before(() => {
    theStage().catch(() => {}) // Whoever needs it learns of it.
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

/** For tests of whole flows: three tries on a machine that stalls. */
export const WHOLE_FLOW = { timeout: 300_000 } as const

/** Somebody with a device of their own that has never seen the page; it is gone after the test. */
export async function someone(t: TestContext, options?: DeviceOptions): Promise<Visitor> {
  const { camera, browser } = await theStage()
  t.after(() => camera.show('rest'))
  return { ...(await visitorIn(browser, t, options)), camera }
}

/** The same without a camera in their machine. No models come either: where no face is seen they would only take time. */
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
