import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { LIVENESS_INCONCLUSIVE } from '@ostiary/contract/codes'
import type { Frame, Locator, Page } from 'playwright-core'
import { SCREEN_LOG_PREFIX } from './browser.ts'
import type { LiveCamera } from './live-camera.ts'
import type { Recorded } from './proxy.ts'
import { type Evaluates, setSpeed } from './slow-motion.ts'
import { type CreatedVisit, endOf } from './system.ts'

export type Visit = ReturnType<typeof visitOn>

/** As much of a visit as a face check needs, in any browser. */
export type FaceVisit = Pick<Visit, 'screen' | 'screens' | 'saw' | 'act' | 'answer' | 'lastCodes'> & {
  frame: Evaluates
}

/** For every action of a page, captures included. It is long because a busy machine may stall. */
const WAIT_MS = 240_000
/** Shorter than any movement is shown. */
const LOOK_EVERY_MS = 60

/** One person on one page, or in a frame of one: what they see and press. */
export function visitOn(page: Page, frame: Frame = page.mainFrame()) {
  /** Console errors and uncaught exceptions of the page. */
  const faults: string[] = []
  /** Every screen that was shown, in order. The last ones stay for a few seconds only. */
  const screens: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error') faults.push(text)
    if (text.startsWith(SCREEN_LOG_PREFIX)) screens.push(text.slice(SCREEN_LOG_PREFIX.length))
  })
  let lastCodes: Promise<readonly number[]> = Promise.resolve([])
  page.on('response', (response) => {
    if (!response.url().endsWith('/launch/api/submit')) return
    lastCodes = response.json().then(
      ({ errors }) => errors ?? [],
      () => [],
    )
  })
  const main = frame.locator('main[data-screen]')

  /** Waits until one of these screens is shown, and returns its name. */
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

  /** An attribute of the screen, such as `data-status`. */
  const attribute = (name: string) => main.getAttribute(name)
  const action = (name: string) => frame.locator(`[data-action="${name}"]:visible`).first()

  /** The page lets nobody agree before the end of its text was in view. */
  async function readOn(): Promise<void> {
    const either = frame.locator('[data-action="consent"]:visible, [data-action="read-on"]:visible').first()
    for (;;) {
      await either.waitFor()
      // In one step: the button may change its meaning between a look and a press.
      const isRead = await either.evaluate((button) => {
        if (button.dataset.action === 'consent') return true
        button.click()
        return false
      })
      if (isRead) return
    }
  }

  return {
    page,
    frame,
    faults,
    screens,
    screen,
    /** Waits until one of these appears after the first `since` screens, even if it is gone again, and returns its name. */
    saw: (names: readonly string[], since?: number) => seenOf({ screens, faults }, names, since),
    attribute,
    action,
    async open(launchUrl: string) {
      await frame.goto(launchUrl)
    },
    /** Waits for a value of an attribute of the screen. */
    async attributeIs(name: string, value: string) {
      try {
        await frame.locator(`main[${name}="${value}"]`).waitFor({ timeout: WAIT_MS })
      } catch (error) {
        throw new Error(`Waiting for ${name}=${value}; shown: ${await describe(main)}`, { cause: error })
      }
    },
    async act(name: string) {
      if (name === 'consent') await readOn()
      await action(name).click()
    },
    /** Presses a button that closes the page or its frame, and waits until it is closed. */
    async actLast(name: string) {
      const gone =
        frame === page.mainFrame()
          ? page.waitForEvent('close', { timeout: WAIT_MS })
          : page.waitForEvent('framedetached', { predicate: (left) => left === frame, timeout: WAIT_MS })
      // The page may close before Playwright reports the press as done, which then fails. Only the closing matters.
      const [left, pressed] = await Promise.allSettled([gone, action(name).click({ timeout: WAIT_MS })])
      if (left.status === 'rejected') {
        const cause = pressed.status === 'rejected' ? pressed.reason : left.reason
        throw new Error(`Pressing ${name} did not take the page away`, { cause })
      }
    },
    /**
     * Lets the puppet make each movement until the capture ends, and presses "I cannot do this" at those that it cannot make. Returns the
     * movements that the page asked for.
     */
    async answer(camera: LiveCamera, cannot: readonly string[] = []) {
      lastCodes = Promise.resolve([])
      return answerMovements(frame, async (movement) => {
        if (cannot.includes(movement)) await action('cannot').click()
        else camera.perform(movement)
      })
    },
    /** The codes in the service's answer to the last capture; empty if the page sent none. */
    lastCodes: () => lastCodes,
  }
}

/** Waits until one of these names is among the screens that were shown after the first `since`. */
export async function seenOf(
  { screens, faults }: { screens: readonly string[]; faults: readonly string[] },
  names: readonly string[],
  since = 0,
): Promise<string> {
  const giveUpAt = performance.now() + WAIT_MS
  for (;;) {
    const seen = screens.slice(since).find((name) => names.includes(name))
    if (seen !== undefined) return seen
    if (performance.now() > giveUpAt) throw new Error(`Waiting for ${names}; shown: ${screens}; faults: ${faults}`)
    await sleep(LOOK_EVERY_MS)
  }
}

/** Looks at the page until the capture ends, and gives each movement that it asks for to `move`. Returns them. */
export async function answerMovements(page: Evaluates, move: (movement: string) => unknown): Promise<string[]> {
  const asked: string[] = []
  let last = ''
  const giveUpAt = performance.now() + WAIT_MS
  for (;;) {
    const { screen, status, movement } = (await page.evaluate(LOOK)) as Look
    // Before the models are near, the page shows their progress, and then turns on the camera.
    if (screen !== 'capture' && status !== 'asking') return asked
    if (movement !== last && movement !== '') {
      asked.push(movement)
      await move(movement)
    }
    last = movement
    if (performance.now() > giveUpAt) throw new Error(`The capture does not end: ${screen} ${status} ${movement}`)
    await sleep(LOOK_EVERY_MS)
  }
}
interface Look {
  screen: string
  status: string
  movement: string
}
const LOOK = `(() => { const main = document.querySelector('main[data-screen]')
  return { screen: main?.dataset.screen ?? '', status: main?.dataset.status ?? '', movement: main?.dataset.movement ?? '' } })()`

/** A person who consents and makes the movements. */
export async function takeFaceCheck(visit: FaceVisit, camera: LiveCamera): Promise<string[][]> {
  await visit.screen(['welcome'])
  await visit.act('consent')
  return passCapture(visit, camera)
}

/** Shows the face until the page asks for no more. Returns the movements of each attempt. */
export async function passCapture(
  visit: FaceVisit,
  camera: LiveCamera,
  tryAgain = () => visit.act('retry'),
): Promise<string[][]> {
  return (await showFace(visit, camera, tryAgain)).tries
}

/**
 * Makes the movements until the page asks for no more, and takes every further attempt that it offers: in slow motion if the
 * last one was inconclusive. Returns the movements of each attempt and the screen that follows the face step.
 */
export async function showFace(
  visit: FaceVisit,
  camera: LiveCamera,
  tryAgain = () => visit.act('retry'),
): Promise<{ tries: string[][]; next: string }> {
  const tries: string[][] = []
  let isSlow = false
  for (;;) {
    await visit.screen(['capture'])
    const since = visit.screens.length
    const asked = await visit.answer(camera)
    tries.push(asked)
    const next = await visit.saw(['passkey', 'document', 'done', 'retry', 'ended', 'problem'], since)
    if (next !== 'retry') {
      // The page may have left for another address.
      if (isSlow) await setSpeed(visit.frame, camera, 'normal').catch(() => {})
      return { tries, next }
    }
    const codes = await visit.lastCodes()
    // Otherwise the service could judge the capture: time was not short.
    isSlow ||= codes.length === 0 || codes.includes(LIVENESS_INCONCLUSIVE)
    console.log(`attempt ${tries.length} of a face check (${asked}) gave ${codes}`)
    // Before the attempt begins: a challenge that starts in real time has its first samples already late.
    if (isSlow) await setSpeed(visit.frame, camera, 'slow')
    await tryAgain()
  }
}

/** Checks that the flow ends with a verdict and that the page shows it. The error quotes the host's result. */
export async function checkVerdict(visit: FaceVisit, created: CreatedVisit): Promise<void> {
  await visit.saw(['done', 'ended', 'problem'])
  const { riskEvaluation, ...result } = await created.result()
  const facts = JSON.stringify({ errors: result.errors, flags: riskEvaluation.flags, screens: visit.screens })
  if (result.flowStatus === null) throw new Error(`The flow has not ended: ${facts}`)
  const verdict = { flowStatus: 'COMPLETED', sessionStatus: 'AGE_ABOVE_THRESHOLD', errors: [], reasons: [] }
  assert.deepEqual(await endOf(created), verdict, facts)
  await visit.saw(['done'])
}

/** The screen's own attributes, for messages. */
async function describe(main: Locator): Promise<string> {
  if ((await main.count()) === 0) return 'no screen'
  return main.first().evaluate((element) => JSON.stringify({ ...element.dataset }))
}

/** What the page lists as sent from the device. */
export interface LedgerRow {
  method: string
  path: string
  bytes: number
  kind: string
}

/** Reads the page's list of what left the device. The list must be open. */
export async function readLedger(visit: Visit): Promise<LedgerRow[]> {
  const dialog = visit.frame.locator('dialog[data-dialog="ledger"]')
  const rows = dialog.locator('[data-ledger-row]')
  // The open list asks for the digest of the page, which is one request more.
  await dialog.locator('[data-digest]').waitFor()
  const read = await rows.evaluateAll((elements) => elements.map((element) => ({ ...element.dataset })))
  return read.map(({ method = '', path = '', bytes = '', kind = '' }) => ({ method, path, bytes: Number(bytes), kind }))
}

/** The same facts from a recording. It skips the browser's own update checks of the service worker, which the page cannot see. */
export function asRows(requests: readonly Recorded[]): string[] {
  const rows = requests.map(({ method, path, body }) => `${method} ${path} ${body.length}`)
  return rows.filter((row, index) => !row.includes('/service-worker.js ') || rows.indexOf(row) === index)
}
