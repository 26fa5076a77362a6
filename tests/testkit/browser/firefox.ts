import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { connectBiDi } from './bidi.ts'
import { LOG_SCREENS, SCREEN_LOG_PREFIX } from './browser.ts'
import { playAsJpeg } from './camera-jpegs.ts'
import type { LiveCamera } from './live-camera.ts'
import { eventually } from './system.ts'

const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

/** Why tests in Firefox cannot run here, or false. */
export const NO_FIREFOX = existsSync(FIREFOX) ? false : 'Firefox is not here: apt-get install firefox-esr'

/** One tab of a headless Firefox, over WebDriver BiDi. Its camera is a canvas of the page, because Firefox plays no file before its own. */
export interface FirefoxTab {
  version: string
  /** Console errors, uncaught exceptions and what the content security policy refused. */
  faults: string[]
  /** Every screen that was shown, in order. */
  screens: string[]
  open(url: string): Promise<void>
  /** Evaluates an expression in the page. Its value must be JSON. */
  evaluate<T>(expression: string): Promise<T>
  /** Waits until an expression gives something else than false, null or undefined. */
  waitFor<T>(what: string, expression: string): Promise<T>
  /** Waits for an element and presses it with a pointer, as a person does: for the page that is a gesture of its user. */
  press(selector: string): Promise<void>
  /** What the camera shows from now on: a JPEG or PNG. */
  show(picture: Buffer): Promise<void>
  /** From now on the camera shows what the puppet does. */
  watch(camera: LiveCamera): void
  /** The service's last answer to a call of this path. */
  lastAnswer<T>(path: string): Promise<T | undefined>
  screenshot(): Promise<Buffer>
  stop(): Promise<void>
}

export async function startFirefox({ width = 1280, height = 720 } = {}): Promise<FirefoxTab> {
  const profile = mkdtempSync(join(tmpdir(), 'ostiary-firefox-'))
  writeFileSync(
    join(profile, 'user.js'),
    PREFERENCES.map(([name, value]) => `user_pref("${name}", ${value});\n`).join(''),
  )
  const child = spawn(FIREFOX, ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const end = () => {
    child.kill('SIGKILL')
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', end)
  const faults: string[] = []
  const screens: string[] = []
  /** By path, the number of the last request that was answered. */
  const answered = new Map<string, string>()
  const { send, close } = await connectBiDi(`${await addressOf(child)}/session`, {
    'log.entryAdded': ({ level, text }: { level: string; text: string }) => {
      if (level === 'error') faults.push(text)
      if (text.startsWith(SCREEN_LOG_PREFIX)) screens.push(text.slice(SCREEN_LOG_PREFIX.length))
    },
    'network.responseCompleted': ({ request }: { request: { request: string; url: string } }) => {
      answered.set(URL.parse(request.url)?.pathname ?? '', request.request)
    },
  })
  const { capabilities } = await send<{ capabilities: { browserVersion: string } }>('session.new', { capabilities: {} })
  await send('session.subscribe', { events: ['log.entryAdded', 'network.responseCompleted'] })
  await send('network.addDataCollector', { dataTypes: ['response'], maxEncodedDataSize: ANSWER_BYTES_MAX })
  for (const script of [cameraScript(width, height), `() => { ${LOG_SCREENS}; ${NOTE_PRESSED} }`])
    await send('script.addPreloadScript', { functionDeclaration: script })
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 800 } })

  async function evaluate<T>(expression: string): Promise<T> {
    const reply = await send<{ type: string; result?: { value?: string }; exceptionDetails?: { text: string } }>(
      'script.evaluate',
      {
        expression: `(async () => JSON.stringify(await (${expression})) ?? 'null')()`,
        target: { context },
        awaitPromise: true,
      },
    )
    if (reply.type === 'exception') throw new Error(reply.exceptionDetails?.text)
    return JSON.parse(reply.result?.value ?? 'null')
  }

  async function waitFor<T>(what: string, expression: string): Promise<T> {
    try {
      return await eventually<T>(what, async () => {
        const value = await evaluate<T | false | null>(expression)
        return value === false || value === null ? undefined : value
      })
    } catch (error) {
      const shown = await evaluate('{ ...document.querySelector("main")?.dataset }').catch(() => 'nothing')
      throw new Error(`Waiting for ${what}; shown: ${JSON.stringify(shown)}; faults: ${faults.join(' | ')}`, {
        cause: error,
      })
    }
  }

  let playing: { stop(): void } | undefined
  return {
    version: capabilities.browserVersion,
    faults,
    screens,
    evaluate,
    waitFor,
    open: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async press(selector) {
      const wanted = JSON.stringify(`${selector}:not([disabled])`)
      const pointer = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' } }
      const button = ['pointerDown', 'pointerUp'].map((type) => ({ type, button: 0 }))
      let isPressed = false
      while (!isPressed) {
        const middle = await waitFor<{ x: number; y: number }>(selector, middleOf(wanted))
        const actions = [{ type: 'pointerMove', ...middle }, ...button]
        await send('input.performActions', { context, actions: [{ ...pointer, actions }] })
        // Something that appears above it may have moved it away under the pointer.
        isPressed = await evaluate<boolean>(`!!globalThis.lastPressed?.matches(${JSON.stringify(selector)})`)
      }
    },
    show: (picture) => evaluate(showing(picture, 'held in a hand')),
    watch({ file }) {
      playing?.stop()
      playing = playAsJpeg(file, (picture) => evaluate(showing(picture, 'alive')))
    },
    async lastAnswer<T>(path: string) {
      const request = answered.get(path)
      if (request === undefined) return undefined
      const { bytes } = await send<{ bytes: { type: string; value: string } }>('network.getData', {
        dataType: 'response',
        request,
      })
      return JSON.parse(bytes.type === 'base64' ? Buffer.from(bytes.value, 'base64').toString() : bytes.value) as T
    },
    async screenshot() {
      const { data } = await send<{ data: string }>('browsingContext.captureScreenshot', { context })
      return Buffer.from(data, 'base64')
    },
    async stop() {
      playing?.stop()
      process.removeListener('exit', end)
      close()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      end()
    },
  }
}
/** More than any answer of the service, less than a model. */
const ANSWER_BYTES_MAX = 256 * 1024

const PREFERENCES = [
  ['media.navigator.permission.disabled', 'true'],
  ['media.navigator.streams.fake', 'true'],
  // Nothing of its own over the network.
  ['app.update.enabled', 'false'],
  ['browser.shell.checkDefaultBrowser', 'false'],
  ['datareporting.policy.dataSubmissionEnabled', 'false'],
  ['network.captive-portal-service.enabled', 'false'],
  ['network.connectivity-service.enabled', 'false'],
  ['extensions.getAddons.cache.enabled', 'false'],
  ['services.settings.server', '""'],
] as const

/** The middle of an element in the window; null as long as the element moves, or something covers it. */
const middleOf = (selector: string) => `(async () => {
  const element = document.querySelector(${selector})
  if (!element) return null
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  const place = () => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) }
  }
  const before = place()
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const now = place()
  const isStill = before.x === now.x && before.y === now.y
  return isStill && element.contains(document.elementFromPoint(now.x, now.y)) ? now : null
})()`

/** What the last press hit. */
const NOTE_PRESSED = `addEventListener('click', ({ target }) => {
  globalThis.lastPressed = target.closest('[data-action]')
}, { capture: true })`

const showing = (picture: Buffer, how: 'held in a hand' | 'alive') =>
  `globalThis.showOnCamera?.(${JSON.stringify(picture.toString('base64'))}, ${how === 'alive'})`

/** Runs before the page: the camera is a canvas, which shows the last picture that the test gave. */
const cameraScript = (width: number, height: number) => `() => {
  if (!navigator.mediaDevices) return
  let picture, isAlive, draw
  globalThis.showOnCamera = async (base64, alive) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    picture = await createImageBitmap(new Blob([bytes]))
    isAlive = alive
    if (alive) draw?.()
    return true
  }
  navigator.mediaDevices.getUserMedia = async () => {
    const shown = document.createElement('canvas')
    Object.assign(shown, { width: ${width}, height: ${height} })
    const context = shown.getContext('2d')
    draw = () => {
      // A little movement and grain, as from a hand: a camera never gives the same picture twice. What is alive moves by itself.
      // Whole pixels: a picture that is drawn between them has a pattern, as that of a screen has.
      const [x, y] = isAlive ? [0, 0] : [Math.floor(Math.random() * 3) - 1, Math.floor(Math.random() * 3) - 1]
      if (picture) context.drawImage(picture, x, y)
      context.fillStyle = 'rgb(' + Math.floor(Math.random() * 255) + ',0,0)'
      context.fillRect(0, 0, 1, 1)
    }
    setInterval(() => isAlive || draw(), 66)
    return shown.captureStream(30)
  }
}`

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error('Firefox has no output')
  const lines = createInterface({ input: child.stderr })
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('exit', (code) => reject(new Error(`Firefox ended with ${code} before it listened`)))
  })
}
