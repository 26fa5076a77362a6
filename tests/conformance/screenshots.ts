/**
 * `node tests/conformance/screenshots.ts`: pictures of every screen of the launch page for docs/images/launch, from the
 * screen catalog, with a drawn figure before the camera. One sheet per form and look, and the main screens as single pictures.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { startBrowser } from '@ostiary/testkit/browser/browser'
import { type ScreenCatalog, startScreenCatalog } from '@ostiary/testkit/browser/screen-catalog'
import { ROOT } from '@ostiary/testkit/run'
import type { Browser, Page } from 'playwright-core'

const FOLDER = `${ROOT}docs/images/launch`
const FORMS = {
  phone: { width: 390, height: 844, columns: 8, shownWidth: 195 },
  desktop: { width: 1280, height: 800, columns: 4, shownWidth: 400 },
} as const
const LOOKS = {
  light: { theme: 'light', lang: 'en' },
  dark: { theme: 'dark', lang: 'en' },
  arabic: { theme: 'light', lang: 'ar' },
} as const
/** The screens that also get a picture of their own, at twice the resolution. */
const MAIN_SCREENS = ['welcome', 'capture', 'handoff', 'ledger', 'done']

type Form = keyof typeof FORMS
type Look = keyof typeof LOOKS
interface Shot {
  screen: string
  picture: Buffer
}

if (import.meta.main) await main()

async function main(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const { browser, stop } = await startBrowser()
  const catalog = await startScreenCatalog({ policy: undefined })
  try {
    const screens = await listScreens(browser, catalog)
    for (const form of Object.keys(FORMS) as Form[])
      for (const look of Object.keys(LOOKS) as Look[]) {
        const shots = await takeAll(browser, catalog, { screens, form, look })
        await keep(`sheet-${form}-${look}`, await makeSheet(browser, shots, { form, look }))
      }
    for (const look of ['light', 'dark'] as const)
      for (const shot of await takeAll(browser, catalog, { screens: MAIN_SCREENS, form: 'phone', look, sharp: true }))
        await keep(`${shot.screen}-${look}`, shot.picture)
  } finally {
    catalog.stop()
    await stop()
  }
}

async function listScreens(browser: Browser, catalog: ScreenCatalog): Promise<string[]> {
  const page = await browser.newPage()
  await settle(page, catalog.url({ screen: 'welcome' }))
  const screens: string[] = await page.evaluate('globalThis.CATALOG_SCREENS')
  await page.close()
  return screens
}

interface Wanted {
  screens: readonly string[]
  form: Form
  look: Look
  sharp?: boolean
}

async function takeAll(
  browser: Browser,
  catalog: ScreenCatalog,
  { screens, form, look, sharp }: Wanted,
): Promise<Shot[]> {
  const { width, height } = FORMS[form]
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: sharp ? 2 : 1,
    isMobile: form === 'phone',
    colorScheme: LOOKS[look].theme,
    // Without motion: a picture in the middle of an animation looks like a mistake.
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const shots: Shot[] = []
  for (const screen of screens) {
    await settle(page, catalog.url({ screen, ...LOOKS[look] }))
    shots.push({ screen, picture: await page.screenshot({ animations: 'disabled', caret: 'hide' }) })
  }
  await context.close()
  return shots
}

async function settle(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('main[data-screen]').waitFor()
  await page.evaluate('document.fonts.ready.then(() => undefined)')
}

/** All shots on one picture, each with its name. */
async function makeSheet(browser: Browser, shots: readonly Shot[], { form, look }: { form: Form; look: Look }) {
  const { columns, shownWidth } = FORMS[form]
  const page = await browser.newPage({ viewport: { width: columns * (shownWidth + 24) + 24, height: 600 } })
  const [paper, ink] = look === 'dark' ? ['#1c1f26', '#e6e8ee'] : ['#e9ebf0', '#22252c']
  const figures = shots.map(
    ({ screen, picture }) =>
      `<figure><img src="data:image/png;base64,${picture.toString('base64')}" width="${shownWidth}"><figcaption>${screen}</figcaption></figure>`,
  )
  await page.setContent(`<style>
    body { margin: 24px; background: ${paper}; color: ${ink}; font: 13px system-ui, sans-serif;
      display: grid; grid-template-columns: repeat(${columns}, ${shownWidth}px); gap: 24px }
    figure { margin: 0 } img { display: block; border-radius: 10px } figcaption { margin-top: 6px; text-align: center }
  </style>${figures.join('')}`)
  const sheet = await page.screenshot({ fullPage: true })
  await page.close()
  return sheet
}

/** With a palette of 256 colours, which the screens hardly exceed, a picture is a third as large. */
async function keep(name: string, picture: Buffer): Promise<void> {
  const palette = 'split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none'
  const args = [
    '-v',
    'error',
    '-i',
    '-',
    '-vf',
    palette,
    '-f',
    'image2pipe',
    '-c:v',
    'png',
    '-compression_level',
    '9',
    '-',
  ]
  const small = execFileSync('ffmpeg', args, { input: picture, maxBuffer: 64 * 1024 * 1024 })
  writeFileSync(`${FOLDER}/${name}.png`, small)
  console.log(`${name}.png  ${Math.round(small.length / 1024)} KB`)
}
