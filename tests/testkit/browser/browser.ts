import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { type RecordingProxy, startProxy } from './proxy.ts'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** A browser that makes no requests of its own: no updates, no sync, no first-run pages. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface TestBrowser {
  browser: Browser
  /** A person's device: a new browser profile whose requests are all recorded. */
  device(options?: DeviceOptions): Promise<Device>
  stop(): Promise<void>
}

export interface DeviceOptions {
  form?: 'desktop' | 'phone'
  /** Whether the person allows the page to use the camera. Default yes. */
  camera?: 'granted' | 'denied'
  context?: BrowserContextOptions
}

export interface Device {
  context: BrowserContext
  proxy: RecordingProxy
  page(): Promise<Page>
  close(): Promise<void>
}

const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  userAgent:
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36',
}
const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }

/** Starts Chromium with a new profile. `camera` is the file that its camera shows; without it there is no camera. */
export async function startBrowser({ camera }: { camera?: string } = {}): Promise<TestBrowser> {
  const args = camera
    ? [...QUIET, '--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${camera}`]
    : QUIET
  const browser = await chromium.launch({ executablePath: CHROMIUM, args })
  return {
    browser,
    device: (options) => openDevice(browser, options),
    stop: () => browser.close(),
  }
}

/** Logs each screen to the console when it appears, because some disappear after a moment. */
export const SCREEN_SAID = 'screen: '
const TELL_SCREENS = `(() => {
  let last
  new MutationObserver(() => {
    const name = document.querySelector('main[data-screen]')?.dataset.screen
    if (name && name !== last) console.debug('${SCREEN_SAID}' + name)
    last = name
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['data-screen'] })
})()`

/** For a click or a page load. It is long because a busy machine may stall. */
const WAIT_MS = 120_000

async function openDevice(browser: Browser, options: DeviceOptions = {}): Promise<Device> {
  const proxy = await startProxy()
  const context = await browser.newContext({
    ...(options.form === 'phone' ? PHONE : DESKTOP),
    locale: 'en-GB',
    ...options.context,
    proxy: { server: proxy.url },
  })
  context.setDefaultTimeout(WAIT_MS)
  await context.addInitScript(TELL_SCREENS)
  // The browser then refuses every permission that is not listed, without a prompt.
  await context.grantPermissions(options.camera === 'denied' ? [] : ['camera'])
  return {
    context,
    proxy,
    page: () => context.newPage(),
    async close() {
      await context.close()
      await proxy.stop()
    },
  }
}
