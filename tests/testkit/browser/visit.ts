import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Frame, Locator, Page } from 'playwright-core'
import { SCREEN_SAID } from './browser.ts'
import type { LiveCamera } from './live-camera.ts'
import type { Recorded } from './proxy.ts'
import { type CreatedVisit, endOf } from './system.ts'

/** One person on one page: what they see and press. Says so when the page breaks. */
export interface Visit {
  page: Page
  frame: Frame
  /** What the page wrote to the console as an error, and what it threw. */
  faults: string[]
  open(launchUrl: string): Promise<void>
  /** Waits until one of these screens is shown; says which. */
  screen(names: readonly string[]): Promise<string>
  /** Every screen that was shown, in order; those at the end are there for some seconds only. */
  screens: string[]
  /** Waits until one of these was shown, be it still there or not, after the first `since` screens; says which. */
  saw(names: readonly string[], since?: number): Promise<string>
  /** An attribute of the screen, such as `data-status`. */
  attribute(name: string): Promise<string | null>
  /** Waits for a value of an attribute of the screen. */
  attributeIs(name: string, value: string): Promise<void>
  action(name: string): Locator
  act(name: string): Promise<void>
  /** Presses what takes the page or its frame away, and waits until it is gone. */
  actLast(name: string): Promise<void>
  /** Lets the puppet answer each movement until the capture is over; says which movements were asked for. */
  answer(camera: LiveCamera): Promise<string[]>
}

/** For all that a page does, a capture and its judgement included: a machine that does much else at once may stall for long. */
const WAIT_MS = 120_000
/** Shorter than any movement is shown. */
const LOOK_EVERY_MS = 60

/** On a page, or in a frame of one. */
export function visitOn(page: Page, frame: Frame = page.mainFrame()): Visit {
  const faults: string[] = []
  const screens: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error') faults.push(text)
    if (text.startsWith(SCREEN_SAID)) screens.push(text.slice(SCREEN_SAID.length))
  })
  const main = frame.locator('main[data-screen]')

  async function screen(names: readonly string[]): Promise<string> {
    const wanted = frame.locator(names.map((name) => `main[data-screen="${name}"]`).join(','))
    try {
      await wanted.waitFor({ timeout: WAIT_MS })
    } catch (error) {
      const shown = await describe(main)
      throw new Error(`Waiting for ${names.join(' or ')}; shown: ${shown}; faults: ${faults.join(' | ')}`, {
        cause: error,
      })
    }
    return (await main.getAttribute('data-screen')) ?? ''
  }

  const attribute = (name: string) => main.getAttribute(name)
  const action = (name: string) => frame.locator(`[data-action="${name}"]:visible`).first()

  return {
    page,
    frame,
    faults,
    screens,
    screen,
    async saw(names, since = 0) {
      const giveUpAt = performance.now() + WAIT_MS
      for (;;) {
        const seen = screens.slice(since).find((name) => names.includes(name))
        if (seen !== undefined) return seen
        if (performance.now() > giveUpAt) throw new Error(`Waiting for ${names}; shown: ${screens}; faults: ${faults}`)
        await sleep(LOOK_EVERY_MS)
      }
    },
    attribute,
    action,
    async open(launchUrl) {
      await frame.goto(launchUrl)
    },
    async attributeIs(name, value) {
      try {
        await frame.locator(`main[${name}="${value}"]`).waitFor({ timeout: WAIT_MS })
      } catch (error) {
        throw new Error(`Waiting for ${name}=${value}; shown: ${await describe(main)}`, { cause: error })
      }
    },
    act: (name) => action(name).click(),
    async actLast(name) {
      const gone =
        frame === page.mainFrame()
          ? page.waitForEvent('close', { timeout: WAIT_MS })
          : page.waitForEvent('framedetached', { predicate: (left) => left === frame, timeout: WAIT_MS })
      // The page may be gone before the press is reported as done, which then counts as failed: what was asked for is that it goes.
      const [left, pressed] = await Promise.allSettled([gone, action(name).click({ timeout: WAIT_MS })])
      if (left.status === 'rejected') {
        const cause = pressed.status === 'rejected' ? pressed.reason : left.reason
        throw new Error(`Pressing ${name} did not take the page away`, { cause })
      }
    },
    async answer(camera) {
      const asked: string[] = []
      let last = ''
      const giveUpAt = performance.now() + WAIT_MS
      for (;;) {
        const { screen: shown, movement } = await look(frame)
        if (shown !== 'capture') return asked
        if (movement !== last && movement !== '') {
          asked.push(movement)
          camera.perform(movement)
        }
        last = movement
        if (performance.now() > giveUpAt) throw new Error(`The capture does not end: ${await describe(main)}`)
        await sleep(LOOK_EVERY_MS)
      }
    },
  }
}

/** A person who says yes and does what is asked. */
export async function takeFaceCheck(visit: Visit, camera: LiveCamera): Promise<string[][]> {
  await visit.screen(['welcome'])
  await visit.act('consent')
  return passCapture(visit, camera)
}

/**
 * Does what is asked until the page asks for nothing more. On a machine that stalls the page may not have seen it and offers
 * another try: a person takes it, as often as there is one. Says which movements each try asked for.
 */
export async function passCapture(
  visit: Visit,
  camera: LiveCamera,
  tryAgain = () => visit.act('retry'),
): Promise<string[][]> {
  const tries: string[][] = []
  for (;;) {
    await visit.screen(['capture'])
    const since = visit.screens.length
    tries.push(await visit.answer(camera))
    if ((await visit.saw(['done', 'retry', 'ended', 'problem'], since)) !== 'retry') return tries
    await tryAgain()
  }
}

/** The flow ends with a verdict, and the page says so. Tells what the host knows if not. */
export async function checkVerdict(visit: Visit, created: CreatedVisit): Promise<void> {
  await visit.saw(['done', 'ended', 'problem'])
  const { riskEvaluation, ...result } = await created.result()
  const told = JSON.stringify({ errors: result.errors, flags: riskEvaluation.flags, screens: visit.screens })
  if (result.flowStatus === null) throw new Error(`The flow goes on: ${told}`)
  const verdict = { flowStatus: 'COMPLETED', sessionStatus: 'AGE_ABOVE_THRESHOLD', errors: [], reasons: [] }
  assert.deepEqual(await endOf(created), verdict, told)
  await visit.saw(['done'])
}

async function look(frame: Frame): Promise<{ screen: string; movement: string }> {
  return frame.evaluate(
    `(() => { const main = document.querySelector('main[data-screen]')
      return { screen: main?.dataset.screen ?? '', movement: main?.dataset.movement ?? '' } })()`,
  )
}

/** The screen's own attributes, for messages. */
async function describe(main: Locator): Promise<string> {
  if ((await main.count()) === 0) return 'no screen'
  return main.first().evaluate((element) => JSON.stringify({ ...element.dataset }))
}

/** What the page says left the device. */
export interface LedgerRow {
  method: string
  path: string
  bytes: number
  kind: string
}

/** Reads the list of what left the device once it is open. */
export async function readLedger(visit: Visit): Promise<LedgerRow[]> {
  const rows = visit.frame.locator('dialog[data-dialog="ledger"] [data-ledger-row]')
  await rows.first().waitFor({ state: 'attached' })
  const read = await rows.evaluateAll((elements) => elements.map((element) => ({ ...element.dataset })))
  return read.map(({ method = '', path = '', bytes = '', kind = '' }) => ({ method, path, bytes: Number(bytes), kind }))
}

/** The same facts of a recording. Browsers look by themselves whether a service worker has changed: no page knows how often. */
export function asRows(requests: readonly Recorded[]): string[] {
  const rows = requests.map(({ method, path, body }) => `${method} ${path} ${body.length}`)
  return rows.filter((row, index) => !row.includes('/service-worker.js ') || rows.indexOf(row) === index)
}
