import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from './system.ts'

const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

/** Why tests in Firefox cannot run here, or false. */
export const NO_FIREFOX = existsSync(FIREFOX) ? false : 'Firefox is not here: apt-get install firefox-esr'

/** One tab of a headless Firefox, over WebDriver BiDi. Its camera is a canvas of the page, because Firefox plays no file before its own. */
export interface FirefoxTab {
  open(url: string): Promise<void>
  /** Evaluates an expression in the page. Its value must be JSON. */
  evaluate<T>(expression: string): Promise<T>
  /** Waits until an expression gives something else than false, null or undefined. */
  waitFor<T>(what: string, expression: string): Promise<T>
  /** What the camera shows from now on: a JPEG or PNG. */
  show(picture: Buffer): Promise<void>
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
  const { send, close } = await connect(`${await addressOf(child)}/session`)
  await send('session.new', { capabilities: {} })
  await send('script.addPreloadScript', { functionDeclaration: cameraScript(width, height) })
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })

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

  return {
    evaluate,
    open: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async waitFor<T>(what: string, expression: string): Promise<T> {
      try {
        return await eventually<T>(what, async () => {
          const value = await evaluate<T | false | null>(expression)
          return value === false || value === null ? undefined : value
        })
      } catch (error) {
        const shown = await evaluate('{ ...document.querySelector("main")?.dataset }').catch(() => 'nothing')
        throw new Error(`Waiting for ${what}; shown: ${JSON.stringify(shown)}`, { cause: error })
      }
    },
    show: (picture) => evaluate(`globalThis.showOnCamera(${JSON.stringify(picture.toString('base64'))})`),
    async stop() {
      process.removeListener('exit', end)
      close()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      end()
    },
  }
}

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

/** Runs before the page: the camera is a canvas, which shows the last picture that the test gave. */
const cameraScript = (width: number, height: number) => `() => {
  if (!navigator.mediaDevices) return
  let picture
  globalThis.showOnCamera = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    picture = await createImageBitmap(new Blob([bytes]))
    return true
  }
  navigator.mediaDevices.getUserMedia = async () => {
    const shown = document.createElement('canvas')
    Object.assign(shown, { width: ${width}, height: ${height} })
    const context = shown.getContext('2d')
    // A little movement and grain, as from a hand: a camera never gives the same picture twice.
    setInterval(() => {
      // Whole pixels: a picture that is drawn between them has a pattern, as that of a screen has.
      const [x, y] = [Math.floor(Math.random() * 3) - 1, Math.floor(Math.random() * 3) - 1]
      if (picture) context.drawImage(picture, x, y)
      context.fillStyle = 'rgb(' + Math.floor(Math.random() * 255) + ',0,0)'
      context.fillRect(0, 0, 1, 1)
    }, 66)
    return shown.captureStream(15)
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

/** One connection: commands by number, each with its reply. */
async function connect(address: string) {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  let last = 0
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, message } = JSON.parse(String(data))
    const reply = waiting.get(id)
    waiting.delete(id)
    if (error) reply?.reject(new Error(`${error}: ${message}`))
    else reply?.resolve(result)
  })
  async function send<T>(method: string, params: object): Promise<T> {
    const id = ++last
    const reply = Promise.withResolvers<unknown>()
    waiting.set(id, reply)
    socket.send(JSON.stringify({ id, method, params }))
    return (await reply.promise) as T
  }
  return { send, close: () => socket.close() }
}
