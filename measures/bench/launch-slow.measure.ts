/**
 * The launch page over a slow connection (400 kbit/s, 400 ms), in a real Chromium with the puppet before its camera: how soon the page
 * answers a press, guides the face and films it. The short form uses a line that is ten times as fast, and ends with the guidance.
 */
import { createClient } from '@ostiary/sdk'
import { type Device, startBrowser } from '@ostiary/testkit/browser/browser'
import { type LiveCamera, startLiveCamera } from '@ostiary/testkit/browser/live-camera'
import { visitOn } from '@ostiary/testkit/browser/visit'
import { provideLaunchPage } from '@ostiary/testkit/launch-page'
import type { Figure, Measure, MeasureOptions } from '@ostiary/testkit/measuring/figure'
import { startSystem } from '@ostiary/testkit/system'

const FULL = {
  speed: { bitsPerSecond: 400_000, latencyMs: 400 },
  /** From the first screen to the press. */
  readingMs: 8_000,
  floors: { consent: 2_000, busy: 300, guidance: 150_000, camera: 20_000, bytes: 6_000_000 },
}
/** The nets start no faster, so guidance gets more than a tenth of the time, and meanwhile more of the rest comes. */
const SHORT = {
  speed: { bitsPerSecond: 4_000_000, latencyMs: 40 },
  readingMs: 800,
  floors: { ...FULL.floors, guidance: 30_000, bytes: 9_000_000 },
}
const WAIT_MS = 600_000

/** Milliseconds of the page's clock. Undefined: it has not happened. */
interface Marks {
  pressed?: number
  busy?: number
  camera?: number
  guidance?: number
}

const MARK_PREFIX = 'bench: '
/** Runs in the page: notes when something is first seen, and says so at once. */
const WATCH = `(() => {
  const marks = globalThis.benchMarks = {}
  const note = (name) => {
    if (name in marks) return
    marks[name] = performance.now()
    console.debug('${MARK_PREFIX}' + name)
  }
  addEventListener('click', ({ target }) => target.closest('[data-action="consent"]') && note('pressed'), true)
  new MutationObserver(() => {
    if (document.querySelector('[data-action="consent"][aria-busy="true"]')) note('busy')
    if (document.querySelector('video')) note('camera')
    if (document.querySelector('main[data-screen="capture"]')?.dataset.guidance) note('guidance')
  }).observe(document, { subtree: true, childList: true, attributes: true })
})()`

export const measure: Measure = async (options) => {
  if (!process.env.LAUNCH_DIR) provideLaunchPage(options.say)
  const { speed } = options.full ? FULL : SHORT
  options.say(
    `the line has ${speed.bitsPerSecond / 1000} kbit/s and ${speed.latencyMs} ms${options.full ? '' : ': ten times as fast as the one that counts'}`,
  )
  const camera = await startLiveCamera()
  const { device: openDevice, stop } = await startBrowser({ cameraFile: camera.file })
  const system = await startSystem('bench-launch-slow')
  try {
    const device = await openDevice({ speed })
    const figures = await visit(device, camera, await createSession(system.env), options)
    await device.close()
    return figures
  } finally {
    await stop()
    camera.stop()
    await system.stop()
  }
}

async function createSession(env: Record<string, string>): Promise<string> {
  const client = createClient({ baseUrl: env.OSTIARY_URL ?? '', apiKey: env.OSTIARY_TEST_KEY_ONE ?? '' })
  const body = { redirectUrl: 'https://shop.example/back', ageThreshold: 30, enableDesktop: true }
  return (await client.age.create(body)).launchUrl
}

async function visit(
  device: Device,
  camera: LiveCamera,
  launchUrl: string,
  { full, say }: MeasureOptions,
): Promise<Figure[]> {
  const { readingMs, floors } = full ? FULL : SHORT
  const page = await device.page()
  await page.addInitScript(WATCH)
  const person = visitOn(page)
  let consentAtMs = 0
  device.proxy.hold = ({ path }) => {
    if (path === '/launch/api/consent') consentAtMs ||= Date.now()
    return undefined
  }
  // A face that is well placed at once is guided for a moment only: then the page waits for the other nets, with the camera off.
  const guided = page
    .waitForEvent('console', { predicate: (message) => message.text() === `${MARK_PREFIX}guidance`, timeout: WAIT_MS })
    .then(() => device.link?.bytesIn() ?? 0)
  const openedAtMs = Date.now()
  const since = () => `${((Date.now() - openedAtMs) / 1000).toFixed(1)} s after the page was opened`
  await person.open(launchUrl)
  await person.screen(['welcome'])
  say(`welcome ${since()}`)
  await page.waitForTimeout(readingMs)
  await person.act('consent')
  const bytes = await guided
  say(`guidance ${since()}, ${bytes} bytes`)
  const { marks, originMs } = await page.evaluate<{ marks: Marks; originMs: number }>(
    '({ marks: globalThis.benchMarks, originMs: performance.timeOrigin })',
  )
  const { pressed = 0, busy = Number.POSITIVE_INFINITY, camera: cameraOn = 0, guidance = 0 } = marks
  const figures = {
    'consent.ms': [consentAtMs - originMs - pressed, floors.consent],
    'busy.ms': [busy - pressed, floors.busy],
    'guidance.ms': [originMs + guidance - openedAtMs, floors.guidance],
    'camera-before-guidance.ms': [guidance - cameraOn, floors.camera],
    'bytes-before-guidance': [bytes, floors.bytes],
  } as const
  if (full) {
    await page.locator('main[data-phase="challenge"]').waitFor({ timeout: WAIT_MS })
    say(`movements ${since()}`)
    await person.answer(camera)
    say(`${await person.screen(['done', 'retry', 'ended'])} ${since()}, ${device.link?.bytesIn()} bytes`)
  }
  await page.close()
  return Object.entries(figures).map(([name, [value, floor]]) => ({
    name: `launch-slow.${name}`,
    value: Math.round(value),
    floor,
    is: 'most',
    load: true,
  }))
}
