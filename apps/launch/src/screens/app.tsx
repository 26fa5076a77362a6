import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { View } from '../flow/view.ts'
import { CameraScreen } from './camera.tsx'
import { CaptureScreen } from './capture.tsx'
import { ConfirmCancelDialog } from './confirm-cancel.tsx'
import { HandoffScreen } from './handoff.tsx'
import { LazyLanguageDialog } from './lazy-language.tsx'
import { LedgerDialog } from './ledger.tsx'
import { kindOfCheck } from './page-title.ts'
import { Bar } from './parts/bar.tsx'
import { Icon, type IconName } from './parts/icons.tsx'
import { offersOtherDevice } from './parts/load-texts.ts'
import { TimeLeft } from './parts/time-left.tsx'
import { ProblemScreen } from './problem.tsx'
import { RetryScreen } from './retry.tsx'
import type { Additions, MoreScreens, ScreenProps, Screens } from './screen.ts'
import {
  CancelledScreen,
  DeclinedScreen,
  DoneScreen,
  EndedScreen,
  ExpiredScreen,
  LoadingScreen,
  SendingScreen,
} from './still.tsx'
import { UnsupportedScreen } from './unsupported.tsx'
import { ViewerScreen } from './viewer.tsx'
import { WelcomeScreen } from './welcome.tsx'

const SCREENS: Screens = {
  loading: LoadingScreen,
  problem: ProblemScreen,
  unsupported: UnsupportedScreen,
  // It is loaded where a device joins with a code.
  number: LoadingScreen,
  welcome: WelcomeScreen,
  camera: CameraScreen,
  capture: CaptureScreen,
  sending: SendingScreen,
  retry: RetryScreen,
  // The parts of the document step and of the passkey bring these.
  document: LoadingScreen,
  passkey: LoadingScreen,
  handoff: HandoffScreen,
  viewer: ViewerScreen,
  done: DoneScreen,
  ended: EndedScreen,
  expired: ExpiredScreen,
  cancelled: CancelledScreen,
  declined: DeclinedScreen,
}

export interface AppProps extends ScreenProps {
  /** The name of the user's own language, if the page does not have it. */
  missingLanguage: string | null
  onLanguage(tag: string): void
  /** They replace the default screens. */
  screens: MoreScreens
  additions: Additions
  /** Open at the start; used by the screen catalog. */
  dialog?: DialogName
}
type DialogName = 'ledger' | 'cancel' | 'language' | null

export function App(props: AppProps): JSX.Element {
  const { view, actions, texts, page, onLanguage } = props
  const [dialog, setDialog] = useState<DialogName>(props.dialog ?? null)
  const { state, session } = view
  const Screen = props.screens[state.at] ?? SCREENS[state.at]
  const running = session !== null && session.flowStatus === null
  const close = () => setDialog(null)
  const more = (name: string) => {
    const Addition = props.additions[name as keyof Additions]
    return Addition && <Addition view={view} texts={texts} />
  }
  return (
    <div class="page">
      <Bar
        brand={view.brand}
        title={kindOfCheck(view, texts.t)}
        isTest={session?.livemode === false}
        texts={texts}
        onLanguage={() => setDialog('language')}
      />
      <div class="sheet">
        <main data-screen={state.at} data-type={view.verification?.type} {...marksOf(props)}>
          {running && <Notices {...props} />}
          <Screen key={state.at} view={view} actions={actions} texts={texts} page={page} more={more(state.at)} />
        </main>
        <Menu {...props} running={running} onDialog={setDialog} />
      </div>
      {dialog === 'ledger' && <LedgerDialog texts={texts} page={page} more={more('ledger')} onClose={close} />}
      {dialog === 'language' && (
        <LazyLanguageDialog
          texts={texts}
          onClose={close}
          onChoose={(tag) => {
            close()
            onLanguage(tag)
          }}
        />
      )}
      {dialog === 'cancel' && running && (
        <ConfirmCancelDialog
          texts={texts}
          onClose={close}
          onConfirm={() => {
            close()
            actions.cancel()
          }}
        />
      )}
    </div>
  )
}

/** Where a user learns that the page speaks another language than theirs. */
const FIRST_SCREENS: readonly string[] = ['welcome', 'number']

/** Shown on every screen: a lost connection, a missing language, and the remaining time when it is short. */
function Notices(props: AppProps): JSX.Element | null {
  const { view, texts, missingLanguage } = props
  const { at } = view.state
  // It says for itself that it waits for the connection, and the service takes what was sent.
  if (at === 'sending') return null
  return (
    <>
      {view.offline && <Notice icon="cloudOff" text={texts.t('app.offline')} />}
      {missingLanguage !== null && FIRST_SCREENS.includes(at) && (
        <Notice icon="globe" text={texts.t('language.missing', { language: missingLanguage })} />
      )}
      <TimeLeft {...props} />
    </>
  )
}

function Notice({ icon, text }: { icon: IconName; text: string }): JSX.Element {
  return (
    <p class="notice" role="status">
      <Icon name={icon} size={18} />
      {text}
    </p>
  )
}

/** Shown on every screen: the other device, the ledger, and cancel. */
function Menu({
  view,
  actions,
  texts: { t },
  running,
  onDialog,
}: AppProps & { running: boolean; onDialog(name: DialogName): void }): JSX.Element {
  const { at } = view.state
  const mayHandOff =
    running &&
    view.mayHandOff &&
    !['number', 'handoff', 'viewer', 'sending', 'problem'].includes(at) &&
    !offersHandoff(view)
  // The number screen has a button of its own for it.
  const mayCancel = running && at !== 'number'
  return (
    <nav class="menu" aria-label={t('app.more')}>
      {mayHandOff && (
        <button type="button" data-action="handoff" onClick={actions.askHandoff}>
          {t('menu.handoff')}
        </button>
      )}
      <button type="button" data-action="ledger" onClick={() => onDialog('ledger')}>
        {t('menu.ledger')}
      </button>
      {mayCancel && (
        <button type="button" data-action="cancel" onClick={() => onDialog('cancel')}>
          {t('menu.cancel')}
        </button>
      )}
    </nav>
  )
}

/** These screens have a button of the same name among their own: one is enough. */
function offersHandoff(view: View): boolean {
  const { state } = view
  if (state.at === 'capture') return offersOtherDevice(view)
  if (state.at === 'camera') return state.status !== 'prime' && state.status !== 'asking'
  if (state.at === 'passkey') return state.status === 'unsupported' || state.status === 'none_here'
  return state.at === 'document' && state.stage === 'no_camera'
}

/** Data attributes with the exact state of the flow, for tests. */
function marksOf({
  view: { state, capture, offline, session, handoff, document },
}: AppProps): Record<string, string | number | undefined> {
  switch (state.at) {
    case 'problem':
      return { 'data-problem': state.problem }
    case 'document':
      return {
        'data-stage': state.stage,
        'data-side': document?.side,
        'data-guidance': document?.guidance,
        'data-problem': document?.problem ?? undefined,
      }
    case 'camera':
    case 'passkey':
      return { 'data-status': state.status }
    case 'capture':
      return {
        'data-phase': capture?.phase ?? 'load',
        'data-movement': capture?.movement ?? '',
        'data-guidance': capture?.guidance ?? '',
        'data-progress': Math.round((capture?.progress ?? 0) * 100),
      }
    case 'sending':
      return { 'data-offline': offline ? 'true' : '' }
    case 'retry':
      return { 'data-tries-left': session?.attemptsLeft }
    case 'handoff':
      return { 'data-status': state.status, 'data-handoff-url': state.status === 'ready' ? handoff?.url : undefined }
    case 'viewer':
      return { 'data-stage': state.stage }
    default:
      return {}
  }
}
