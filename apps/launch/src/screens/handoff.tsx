import type { JSX } from 'preact'
import { Button } from './parts/button.tsx'
import { CopyLink } from './parts/copy-link.tsx'
import { Countdown } from './parts/countdown.tsx'
import { inAppText } from './parts/in-app-text.ts'
import { HandoffNumber } from './parts/number.tsx'
import { openInBrowserLink } from './parts/open-in-browser.ts'
import { QrCode } from './parts/qr.tsx'
import { Still } from './parts/still.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** The code for another device. A desktop that may not run the flow starts here. */
export function HandoffScreen({ view, actions, texts, page }: ScreenProps): JSX.Element | null {
  const { t, tag } = texts
  if (view.state.at !== 'handoff') return null
  const { status } = view.state
  if (status === 'refused') return <NoMoreCodes view={view} actions={actions} texts={texts} page={page} />
  if (status === 'number_wrong') return <NumberWrong view={view} actions={actions} texts={texts} page={page} />
  if (view.inApp) return <OtherBrowser view={view} actions={actions} texts={texts} page={page} />
  const url = codeUrl(view)
  return (
    <div class="screen screen--center">
      <Title>{t(view.barred ? 'handoff.desktopTitle' : 'handoff.title')}</Title>
      <p class="lead">{t(view.barred ? 'handoff.desktopText' : 'handoff.text')}</p>
      <QrCode link={url} t={t} />
      {url !== null && view.number !== null && <HandoffNumber number={view.number} label={t('handoff.number')} />}
      <p class="waiting" role="status">
        {t(url === null ? 'handoff.making' : 'handoff.waiting')}
      </p>
      {view.handoff && url !== null && (
        <Countdown untilMs={Date.parse(view.handoff.expiresAt) - view.serverAheadMs} nowMs={page.nowMs} locale={tag}>
          {(time) => <p class="small digits">{t('handoff.valid', { time })}</p>}
        </Countdown>
      )}
      <div class="buttons">
        {url !== null && <CopyLink link={url} look="soft" t={t} />}
        {!view.barred && (
          <Button action="take-back" onPress={actions.takeBack}>
            {t('handoff.back')}
          </Button>
        )}
        <p class="small">{t('handoff.secret')}</p>
      </div>
    </div>
  )
}

/** Out of an app's built-in browser, on the phone in the user's hand: the link is copied there, not scanned. */
function OtherBrowser({ view, actions, texts: { t }, page }: ScreenProps): JSX.Element {
  const url = codeUrl(view)
  const opens = url === null ? null : openInBrowserLink(url, page.userAgent)
  return (
    <div class="screen" data-other-browser>
      <Title>{t('unsupported.title')}</Title>
      <p class="lead">{inAppText(view.inApp?.name ?? null, t)}</p>
      <p class="how">{t('unsupported.how')}</p>
      <div class="buttons buttons--close">
        {url === null ? (
          <p class="waiting" role="status">
            {t('loading.title')}
          </p>
        ) : (
          <CopyLink link={url} look="main" t={t} />
        )}
        {opens !== null && (
          <a class="button button--soft" data-action="open-browser" href={opens} rel="noreferrer">
            {t('camera.openBrowser')}
          </a>
        )}
      </div>
      {url !== null && view.number !== null && <HandoffNumber number={view.number} label={t('number.label')} />}
      <QrCode link={url} t={t} />
      <p class="small centred">{t('unsupported.scan')}</p>
      <div class="buttons">
        <Button action="take-back" onPress={actions.takeBack}>
          {t('handoff.back')}
        </Button>
        <p class="small">{t('handoff.secret')}</p>
      </div>
    </div>
  )
}

/** The link with the code; null while the service makes it. */
function codeUrl({ state, handoff }: ScreenProps['view']): string | null {
  return state.at === 'handoff' && state.status === 'ready' ? (handoff?.url ?? null) : null
}

function NoMoreCodes({ view, actions, texts: { t } }: ScreenProps): JSX.Element {
  const stays = mayStay(view)
  return (
    <div class="screen screen--still">
      <Title>{t('handoff.refusedTitle')}</Title>
      <p class="lead">{t(stays ? 'handoff.refusedText' : 'handoff.refusedHere')}</p>
      {stays && (
        <div class="buttons">
          <Button action="take-back" look="main" onPress={actions.takeBack}>
            {t('handoff.back')}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Somebody typed another number than the one on this screen: a slip, or a stranger with the code. */
function NumberWrong({ view, actions, texts: { t } }: ScreenProps): JSX.Element {
  return (
    <Still icon="warning" mood="alert" title={t('handoff.wrongTitle')} text={t('handoff.wrongText')}>
      <div class="buttons">
        <Button action="new-code" look="main" onPress={actions.askHandoff}>
          {t('handoff.newCode')}
        </Button>
        {mayStay(view) && (
          <Button action="take-back" onPress={actions.takeBack}>
            {t('handoff.back')}
          </Button>
        )}
      </div>
    </Still>
  )
}

/** Whether the session may go on here. After a reload only the service knows. */
function mayStay({ barred, takeBackRefused }: ScreenProps['view']): boolean {
  return !barred && !takeBackRefused
}
