/**
 * The launch page on this machine: from opening it to the first guidance, and to the result, with an empty and with a filled cache,
 * in a real Chromium with the puppet before its camera.
 */
import { createClient } from '@ostiary/sdk'
import { type Device, startBrowser } from '@ostiary/testkit/browser/browser'
import { type LiveCamera, startLiveCamera } from '@ostiary/testkit/browser/live-camera'
import { visitOn } from '@ostiary/testkit/browser/visit'
import { provideLaunchPage } from '@ostiary/testkit/launch-page'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { startSystem } from '@ostiary/testkit/system'
import type { Page } from 'playwright-core'

/** Milliseconds after the page was opened. */
interface Times {
  welcome: number
  /** The camera runs and the page says what to do. */
  guidance: number
  /** The page shows the result. */
  done: number
}

export const measure: Measure = async ({ full, say }) => {
  if (!process.env.LAUNCH_DIR) provideLaunchPage(say)
  const camera = await startLiveCamera()
  const { device: openDevice, stop } = await startBrowser({ cameraFile: camera.file })
  const system = await startSystem('bench-launch')
  const create = creator(system.env)
  try {
    const cold: Times[] = []
    const warm: Times[] = []
    for (let round = 0; round < (full ? 5 : 1); round++) {
      const device = await openDevice()
      cold.push(await visit(device, camera, await create()))
      say(`cold: ${describe(cold)}`)
      warm.push(await visit(device, camera, await create()))
      say(`warm: ${describe(warm)}`)
      await device.close()
    }
    return [...figuresOf('cold', cold), ...figuresOf('warm', warm)]
  } finally {
    await stop()
    camera.stop()
    await system.stop()
  }
}

/** Generous limits: a current phone is faster than two shared cores that also render the camera's picture. */
const FLOORS_MS = { guidance: { cold: 20_000, warm: 12_000 }, done: { cold: 50_000, warm: 40_000 } } as const

function figuresOf(cache: 'cold' | 'warm', times: readonly Times[]): Figure[] {
  return (['guidance', 'done'] as const).map((moment) => ({
    name: `launch.${cache}.${moment}.ms`,
    value: Math.round(median(times.map((time) => time[moment]))),
    floor: FLOORS_MS[moment][cache],
    is: 'most',
    load: true,
  }))
}

function describe(times: readonly Times[]): string {
  const { welcome = 0, guidance = 0, done = 0 } = times.at(-1) ?? {}
  return `welcome ${Math.round(welcome)} ms, first guidance ${Math.round(guidance)} ms, result ${Math.round(done)} ms`
}

function creator(env: Record<string, string>): () => Promise<string> {
  const client = createClient({ baseUrl: env.OSTIARY_URL ?? '', apiKey: env.OSTIARY_TEST_KEY_ONE ?? '' })
  return async () => {
    const body = { redirectUrl: 'https://shop.example/back', ageThreshold: 20, enableDesktop: true }
    return (await client.age.create(body)).launchUrl
  }
}

/** Plays a person who reads for half a second, consents and makes the movements. */
async function visit(device: Device, camera: LiveCamera, launchUrl: string): Promise<Times> {
  const page = await device.page()
  const person = visitOn(page)
  const since = clockOf()
  await person.open(launchUrl)
  await person.screen(['welcome'])
  const welcome = since()
  await page.waitForTimeout(READING_MS)
  await person.act('consent')
  await person.screen(['capture'])
  const guidance = await guided(page, since)
  await person.answer(camera)
  const shown = await person.screen(['done', 'retry', 'ended'])
  if (shown !== 'done') throw new Error(`The puppet was not taken for a person: ${shown}`)
  const done = since()
  await page.close()
  return { welcome, guidance, done }
}

const READING_MS = 500

async function guided(page: Page, since: () => number): Promise<number> {
  await page
    .locator('main:not([data-guidance=""])[data-guidance], main[data-phase="challenge"]')
    .waitFor({ timeout: 60_000 })
  return since()
}

function clockOf(): () => number {
  const started = performance.now()
  return () => performance.now() - started
}
