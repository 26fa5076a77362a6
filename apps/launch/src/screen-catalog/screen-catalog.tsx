import type { VerificationFacts } from '@ostiary/contract'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { systemClock } from '@ostiary/device'
import { render } from 'preact'
import { ADDITIONS, SCREENS as DOCUMENT_SCREENS } from '../documents/screens/screens.tsx'
import { addDocumentStyle } from '../documents/style.ts'
import type { Actions } from '../flow/view.ts'
import type { LedgerEntry } from '../ledger/ledger.ts'
import { App } from '../screens/app.tsx'
import { NumberScreen } from '../screens/number.tsx'
import { windowTitle } from '../screens/page-title.ts'
import '../style/all.css'
import { documentTextsOf } from '../texts/documents-text-files.ts'
import { choose, createLanguages } from '../texts/languages.ts'
import { textFiles } from '../texts/text-files.ts'
import { verificationTextsOf } from '../texts/verification-text-files.ts'
import { sendsTokens } from '../texts/verification-texts.ts'
import { applyTheme } from '../theme/apply-theme.ts'
import { SCREENS } from '../verification/screens/screens.ts'
import { DrawnDocument } from './drawn-document.tsx'
import { DrawnPerson } from './person.tsx'
import { variantsAt } from './variants.ts'

/**
 * Every screen by itself: screen-catalog.html?screen=capture&theme=dark&lang=ar. For screenshots and accessibility checks; not part
 * of the built page. `&primary=` and `&background=` (six digits) try a brand. `showScreen(query)` shows another one at once.
 */
const variants = variantsAt(systemClock.nowMs())
const languages = createLanguages(textFiles)
const nothing = () => {}
const actions: Actions = {
  sendNumber: nothing,
  consent: nothing,
  startCamera: nothing,
  startAnyway: nothing,
  askHandoff: nothing,
  takeBack: nothing,
  cancel: nothing,
  document: nothing,
  askPasskey: nothing,
  skipPasskey: nothing,
  popOut: nothing,
  reopen: nothing,
  cannot: nothing,
  askMoreTime: nothing,
  extend: nothing,
  stay: nothing,
  leave: nothing,
  closePage: nothing,
}

async function show(query: string): Promise<void> {
  const options = new URLSearchParams(query)
  const variant = variants[options.get('screen') ?? '']
  const verification = variant?.view.verification
  const { document: shown = null } = variant?.view ?? {}
  const loaded = await languages.load(choose([options.get('lang')]))
  const plain = shown ? await documentTextsOf(shown)(loaded) : loaded
  const texts = verification ? await verificationTextsOf({ type: verification.type, verification })(plain) : plain
  const root = document.documentElement
  root.lang = texts.tag
  root.dir = texts.direction
  const theme = options.get('theme')
  if (theme !== null) root.dataset.scheme = theme
  const colour = (name: string) => (options.has(name) ? `#${options.get(name)}` : null)
  applyTheme({ primary: colour('primary'), background: colour('background') }, root)
  const app = document.querySelector('#app')
  if (!app) return
  Object.assign(globalThis, { CATALOG_SCREENS: Object.keys(variants), showScreen: show })
  render(null, app)
  if (!variant) {
    render(
      <main>
        <h1>Screens</h1>
        <ul>
          {Object.keys(variants).map((key) => (
            <li key={key}>
              <a href={`?screen=${key}`}>{key}</a>
            </li>
          ))}
        </ul>
      </main>,
      app,
    )
    return
  }
  document.title = windowTitle(variant.view, texts.t)
  render(
    <App
      view={variant.view}
      dialog={variant.dialog ?? null}
      actions={actions}
      texts={texts}
      missingLanguage={variant.missingLanguage ?? null}
      onLanguage={nothing}
      screens={{ ...(verification && SCREENS), ...(shown && DOCUMENT_SCREENS), number: NumberScreen }}
      additions={shown ? ADDITIONS : {}}
      page={{
        nowMs: () => systemClock.nowMs(),
        link: 'https://id.example/launch/?sessionId=0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b',
        userAgent: navigator.userAgent,
        preview: shown ? <DrawnDocument side={shown.side} /> : <DrawnPerson />,
        digest: async () => DIGEST,
        ledger: { entries: () => ledgerOf(verification), onChange: () => nothing },
      }}
    />,
    app,
  )
}

const entry = (kind: LedgerEntry['kind'], method: string, path: string, bytesOut: number): LedgerEntry => ({
  atMs: 0,
  method,
  path,
  bytesOut,
  kind,
})
const LEDGER: readonly LedgerEntry[] = [
  entry('page', 'GET', '/launch/', 0),
  entry('page', 'GET', '/launch/assets/index-B3kf92Lx.js', 0),
  entry('model', 'GET', '/launch/models/facemesh/9f2c51aa03be/facemesh.onnx', 0),
  entry('call', 'POST', LAUNCH_PATHS.open, 318),
  entry('call', 'POST', LAUNCH_PATHS.consent, 94),
  entry('call', 'POST', LAUNCH_PATHS.challenge, 52),
  entry('call', 'POST', LAUNCH_PATHS.events, 1432),
  entry('submit', 'POST', LAUNCH_PATHS.submit, 1877),
]

/** What a registration by token sends more. */
const TOKEN_LEDGER: readonly LedgerEntry[] = [
  entry('call', 'POST', LAUNCH_PATHS.tokenBegin, 52),
  entry('token', 'POST', LAUNCH_PATHS.tokenEnrol, 361_894),
]

function ledgerOf(verification: VerificationFacts | null | undefined): readonly LedgerEntry[] {
  return sendsTokens({ verification: verification ?? null }) ? [...LEDGER, ...TOKEN_LEDGER] : LEDGER
}

const DIGEST = '7d8f5c1e0a3b94626f2d17c8b5e9a0431c6d78f2e3b4a596870d1e2f3c4b5a69'

await addDocumentStyle()
await show(location.search)
