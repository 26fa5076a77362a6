import type { JSX } from 'preact'
import type { CameraStatus } from '../flow/states.ts'
import type { TextKey } from '../texts/translate.ts'
import { Alert } from './parts/alert.tsx'
import { allowHelp } from './parts/browser-help.ts'
import { Button } from './parts/button.tsx'
import { Emblem } from './parts/emblem.tsx'
import { inAppText } from './parts/in-app-text.ts'
import { Links } from './parts/links.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** Shown before the browser asks for the camera, while it asks, and when there is no camera. */
export function CameraScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts, page } = props
  const { t } = texts
  if (view.state.at !== 'camera') return null
  const { status } = view.state
  const { title, text } = textsOf(status)
  const failed = status !== 'prime' && status !== 'asking'
  return (
    <div class="screen screen--still">
      <Emblem icon={failed ? 'cameraOff' : 'camera'} mood={failed ? 'alert' : status === 'asking' ? 'wait' : 'plain'} />
      <Title>{t(title)}</Title>
      <Alert text={failed ? t(title) : ''} />
      <p class="lead">
        {t(text)} {failed && triesLeft(view) > 0 && t('retry.left', { count: triesLeft(view) })}
      </p>
      {failed && view.inApp && <p class="how">{inAppText(view.inApp.name, t)}</p>}
      {status === 'permission_denied' && !view.inApp && (
        <div class="how">
          {allowHelp(page.userAgent).map((key) => (
            <p key={key}>{t(key)}</p>
          ))}
        </div>
      )}
      {status !== 'asking' && (
        <div class="buttons">
          {!HOPELESS.includes(status) && (
            <Button action="start" look="main" onPress={actions.startCamera}>
              {t(failed ? 'camera.again' : 'camera.start')}
            </Button>
          )}
          {failed && view.session && view.mayHandOff && (
            <Button
              action="handoff-here"
              look={HOPELESS.includes(status) ? 'main' : 'text'}
              onPress={actions.askHandoff}
            >
              {t(view.inApp ? 'camera.openBrowser' : 'menu.handoff')}
            </Button>
          )}
        </div>
      )}
      {failed && <Links {...props} />}
    </div>
  )
}

/** A camera that does not start may cost one (flow/face-step.ts). In the document step the face is only looked at, which is no try. */
function triesLeft({ session }: ScreenProps['view']): number {
  return session && session.state !== 'DOC_ACTIVE' ? session.attemptsLeft : 0
}

/** Another try on this page cannot succeed. */
const HOPELESS: readonly CameraStatus[] = ['insecure_context', 'policy_blocked']

function textsOf(status: CameraStatus): { title: TextKey; text: TextKey } {
  if (status === 'prime') return { title: 'camera.primeTitle', text: 'camera.primeText' }
  if (status === 'asking') return { title: 'camera.askingTitle', text: 'camera.askingText' }
  return { title: `camera.${status}.title`, text: `camera.${status}.text` }
}
