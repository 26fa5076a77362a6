import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { type RecordingProxy, startProxy } from './proxy.ts'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const ARGUMENTS = [
  // Containers have no graphics card, and Chromium's sandbox does not start there.
  '--no-sandbox',
  '--disable-gpu',
  // QUIC cannot pass through the recording proxy.
  '--disable-quic',
  // The browser makes no requests of its own: no first-run pages, no updates, no sync.
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface TestBrowser {
  browser: Browser
  /** A person's device: a new browser context, in which nothing is stored yet. All its requests are recorded. */
  device(options?: DeviceOptions): Promise<Device>
  stop(): Promise<void>
}

export interface DeviceOptions {
  /** Form factor: screen size, touch and user agent. Default desktop. */
  form?: 'desktop' | 'phone'
  /** Whether the person allows the page to use the camera. Default yes. */
  cameraPermission?: 'granted' | 'denied'
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

/** Starts headless Chromium. Its fake camera plays the video file `cameraFile`; without a file the browser has no camera. */
export async function startBrowser({ cameraFile }: { cameraFile?: string } = {}): Promise<TestBrowser> {
  const args = cameraFile
    ? [...ARGUMENTS, '--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${cameraFile}`]
    : ARGUMENTS
  const browser = await chromium.launch({ executablePath: CHROMIUM, args })
  return {
    browser,
    device: (options) => openDevice(browser, options),
    stop: () => browser.close(),
  }
}

/** The console message for a screen is this prefix and the screen's name. */
export const SCREEN_LOG_PREFIX = 'screen: '
/** Runs in every page. Logs each screen to the console when it appears: some disappear before a test could look for them. */
export const LOG_SCREENS = `(() => {
  let last
  new MutationObserver(() => {
    const name = document.querySelector('main[data-screen]')?.dataset.screen
    if (name && name !== last) console.debug('${SCREEN_LOG_PREFIX}' + name)
    last = name
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['data-screen'] })
})()`

/** Timeout of every click and page load. It is long because a busy machine may stall. */
const TIMEOUT_MS = 120_000

async function openDevice(browser: Browser, options: DeviceOptions = {}): Promise<Device> {
  const proxy = await startProxy()
  const context = await browser.newContext({
    ...(options.form === 'phone' ? PHONE : DESKTOP),
    locale: 'en-GB',
    ...options.context,
    proxy: { server: proxy.url },
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  await context.addInitScript(LOG_SCREENS)
  // After this call the browser refuses every permission that is not listed, without a prompt.
  await context.grantPermissions(options.cameraPermission === 'denied' ? [] : ['camera'])
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
