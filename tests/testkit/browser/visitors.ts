import { before, type TestContext } from 'node:test'
import { type Device, type DeviceOptions, startBrowser, type TestBrowser } from './browser.ts'
import { type LiveCamera, startLiveCamera } from './live-camera.ts'
import { type Visit, visitOn } from './visit.ts'

/** One browser with one puppet before its camera, shared by all tests of a process because both are slow to start. They end with the process. */
export interface CameraBrowser {
  camera: LiveCamera
  browser: TestBrowser
}

let shared: Promise<CameraBrowser> | undefined
let plainBrowser: Promise<TestBrowser> | undefined

function cameraBrowser(): Promise<CameraBrowser> {
  shared ??= startLiveCamera().then(async (camera) => ({
    camera,
    browser: await startBrowser({ cameraFile: camera.file }),
  }))
  return shared
}

/** Starts the puppet before the first test: it draws every movement in advance, which takes a while. */
export function prepareCameraBrowser(): void {
  before(() => {
    cameraBrowser().catch(() => {}) // The first test that needs it gets the error.
  })
}

/** A browser on a machine without a camera. */
export function browserWithoutCamera(): Promise<TestBrowser> {
  plainBrowser ??= startBrowser()
  return plainBrowser
}

export interface Visitor {
  visit: Visit
  device: Device
  camera: LiveCamera
}

/** For tests of whole flows: long enough for three attempts on a machine that stalls. */
export const WHOLE_FLOW = { timeout: 600_000 } as const

/** A visitor with a new device that has never opened the page. The device is closed after the test. */
export async function newVisitor(t: TestContext, options?: DeviceOptions): Promise<Visitor> {
  const { browser } = await cameraBrowser()
  const camera = await faceCamera(t)
  return { ...(await visitorIn(browser, t, options)), camera }
}

/** The puppet alone, for browsers that take their pictures in another way. */
export async function faceCamera(t: TestContext): Promise<LiveCamera> {
  const { camera } = await cameraBrowser()
  t.after(() => {
    camera.show('rest')
    camera.slowDown(1)
  })
  return camera
}

/** A visitor whose device has no camera. The models are not loaded either: without a face they would only take time. */
export async function newVisitorWithoutCamera(t: TestContext, options?: DeviceOptions) {
  const visitor = await visitorIn(await browserWithoutCamera(), t, options)
  visitor.device.proxy.hold = ({ path }) => (MODEL_OR_RUNTIME.test(path) ? new Promise(() => {}) : undefined)
  return visitor
}
const MODEL_OR_RUNTIME = /^\/launch\/(models|ort)\//

async function visitorIn(browser: TestBrowser, t: TestContext, options?: DeviceOptions) {
  const device = await browser.device(options)
  t.after(() => device.close())
  return { visit: visitOn(await device.page()), device }
}
