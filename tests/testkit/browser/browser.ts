import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { type RecordingProxy, startProxy } from './proxy.ts'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** A browser that keeps to itself: no updates, no sync, no first-run pages. */
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
  /** A person's device: a profile of its own, empty, whose every request is recorded. */
  device(options?: DeviceOptions): Promise<Device>
  stop(): Promise<void>
}

export interface DeviceOptions {
  form?: 'desktop' | 'phone'
  /** Whether the person lets the page use the camera. Default yes. */
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

/** Chromium with an own profile. With `camera`, that file is what its camera sees; without, there is none. */
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

/** Says each screen on the console when it appears, because some are gone after a moment. */
export const SCREEN_SAID = 'screen: '
const TELL_SCREENS = `(() => {
  let last
  new MutationObserver(() => {
    const name = document.querySelector('main[data-screen]')?.dataset.screen
    if (name && name !== last) console.debug('${SCREEN_SAID}' + name)
    last = name
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['data-screen'] })
})()`

/** For a click or a page that loads: long, because a machine may stall. */
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
  // Permissions that are not named are then refused without a question.
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
