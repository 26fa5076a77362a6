import { loadSealing, systemClock } from '@ostiary/device'
import { render } from 'preact'
import { createCameraOwner, isCameraOutOfReach } from './camera/open-camera.ts'
import { EngineLoadError } from './engine/engine.ts'
import { startEngine } from './engine/start-engine.ts'
import { JOINED, readAddress } from './flow/address.ts'
import { createBrowserPage } from './flow/browser-page.ts'
import { createDeviceStorage } from './flow/device-storage.ts'
import { createFlow } from './flow/run.ts'
import { watchBrowserRequests } from './ledger/browser-requests.ts'
import { createLedger } from './ledger/ledger.ts'
import { readPageDigest } from './ledger/page-digest.ts'
import { registerServiceWorker } from './register-service-worker.ts'
import { App } from './screens/app.tsx'
import { windowTitle } from './screens/page-title.ts'
import type { Additions, MoreScreens } from './screens/screen.ts'
import { detectInAppBrowser, devicePlatform, readEnvironment } from './signals/index.ts'
import './style/all.css'
import { rememberedLanguage, rememberLanguage } from './texts/choice.ts'
import { choose, createLanguages, firstOf, missingLanguage, type Texts } from './texts/languages.ts'
import { createLatestOnly } from './texts/latest-only.ts'
import { textFiles } from './texts/text-files.ts'
import { applyTheme } from './theme/apply-theme.ts'

const link = location.href
const address = readAddress(link, history.state)
// A code works once, so it must not stay in the address bar, where users copy or bookmark it.
if (address.handoffCode !== null) history.replaceState(JOINED, '', address.clean)

const ledger = createLedger({ fetch: (input, init) => fetch(input, init), clock: systemClock, pageUrl: link })
watchBrowserRequests(ledger.note)
const environment = readEnvironment(globalThis, systemClock)
const languages = createLanguages(textFiles)
let chosen = rememberedLanguage()
let texts: Texts
let screens: MoreScreens = {}
let additions: Additions = {}
let adaptTexts = async (plain: Texts) => plain
let addDocumentTexts = adaptTexts

const openCamera = createCameraOwner()
const loadCapture = () => import('./capture/run-capture.ts')
const flow = createFlow({
  address,
  baseUrl: apiUrl(),
  clock: systemClock,
  fetch: ledger.fetch,
  storage: createDeviceStorage(systemClock.nowMs, () => indexedDB),
  engine: startEngine({ onRequest: ledger.note }),
  isCameraOutOfReach,
  async openCamera(wanted) {
    const camera = await openCamera(wanted)
    // It is needed when the models are there, and never without a camera.
    loadCapture().catch(() => {})
    return camera
  },
  async runCapture(capture) {
    const { runCapture } = await loadCapture().catch((error) => {
      throw new EngineLoadError('the capture', error)
    })
    return runCapture(capture)
  },
  async collectSignals(camera) {
    // What encrypts the capture comes with them, long before it is needed.
    const [{ collectSignals }] = await Promise.all([import('./signals/collect.ts'), loadSealing()]).catch((error) => {
      throw new EngineLoadError('the signals', error)
    })
    return collectSignals(environment, camera)
  },
  async loadVerification(session) {
    const more = await (await import('./verification/index.ts')).setUpVerification(session)
    adaptTexts = more.adaptTexts
    screens = { ...screens, ...more.screens }
    texts = await adaptTexts(texts)
    return more.create
  },
  async loadDocuments(session) {
    const more = (await import('./documents/index.ts')).setUpDocuments(session, ledger.note)
    addDocumentTexts = more.addTexts
    additions = more.additions
    screens = { ...screens, ...more.screens }
    texts = await addDocumentTexts(texts)
    return more.create
  },
  async loadNumberScreen() {
    screens = { ...screens, number: (await import('./screens/number.tsx')).NumberScreen }
  },
  browser: {
    platform: devicePlatform(environment),
    // The first one that we have: browsers tell the service only their first language.
    language: firstOf(navigator.languages) ?? navigator.language,
    utcOffsetMinutes: environment.time.offsetMinutes,
    isSecure: isSecureContext,
    hasCameraApi: typeof navigator.mediaDevices?.getUserMedia === 'function',
    inApp: detectInAppBrowser(navigator.userAgent),
    saveData: (navigator as { connection?: { saveData?: boolean } }).connection?.saveData ?? false,
  },
  page: createBrowserPage(address.sessionId),
  language: () => texts.tag,
  async onLocale(locale) {
    if (chosen === null) await switchLanguage(locale)
  },
})

/** If no texts can be loaded at all, the page shows only this English sentence. */
async function firstTexts(): Promise<Texts> {
  const wanted = choose([chosen, ...navigator.languages])
  try {
    return await languages.load(wanted).catch(() => languages.load('en'))
  } catch (error) {
    const sheet = document.querySelector('.sheet')
    if (sheet) sheet.textContent = 'This page could not be loaded. Please check your connection and load it again.'
    throw error
  }
}

const digest = () => readPageDigest(ledger.fetch, document.querySelector<HTMLScriptElement>('script[src]')?.src)

/** The API has the page's origin, unless the page is hosted separately and names it in a meta element. */
function apiUrl(): string {
  const named = document.querySelector('meta[name="ostiary-api"]')?.getAttribute('content')
  return named ? new URL(named).origin : location.origin
}

const showLatest = createLatestOnly((loaded: Texts) => {
  texts = loaded
  flow.languageChanged()
  draw()
})

function switchLanguage(wanted: string): Promise<void> {
  const tag = choose([wanted, ...navigator.languages])
  return showLatest(async () =>
    tag === texts.tag ? texts : adaptTexts(await addDocumentTexts(await languages.load(tag))),
  )
}

function pick(tag: string): void {
  chosen = tag
  rememberLanguage(tag)
  // Without a connection the page stays as it is.
  switchLanguage(tag).catch(() => {})
}

const root = document.documentElement
const place = document.querySelector('#app')
let painted: unknown = null

function draw(): void {
  const view = flow.view()
  root.lang = texts.tag
  root.dir = texts.direction
  document.title = windowTitle(view, texts.t)
  if (view.brand && view.brand !== painted) applyTheme(view.brand, root)
  painted = view.brand
  if (!place) return
  render(
    <App
      view={view}
      actions={flow.actions}
      texts={texts}
      missingLanguage={chosen === null ? missingLanguage(navigator.languages, texts.tag) : null}
      onLanguage={pick}
      screens={screens}
      additions={additions}
      page={{ nowMs: systemClock.nowMs, link, userAgent: navigator.userAgent, ledger, digest }}
    />,
    place,
  )
}

/** No top-level await in this file: lazy chunks import from it and would wait for ever. */
async function begin(): Promise<void> {
  texts = await firstTexts()
  flow.onChange(draw)
  draw()
  await flow.start()
  registerServiceWorker(ledger.note)
}

void begin()
