import type { JSX } from 'preact'
import { allowHelp } from '../../screens/parts/browser-help.ts'
import { Button } from '../../screens/parts/button.tsx'
import { Still } from '../../screens/parts/still.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { OtherWay } from './other-way.tsx'

/** While the browser asks for the camera. */
export function AskingScreen({ texts: { t } }: ScreenProps): JSX.Element {
  return <Still icon="camera" mood="wait" title={t('camera.askingTitle')} text={t('camera.askingText')} />
}

/** There is no camera for the document. This costs no try. */
export function NoCameraScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts, page } = props
  const { t } = texts
  const problem = view.document?.cameraProblem
  if (!problem) return null
  return (
    <Still icon="cameraOff" mood="alert" title={t(`camera.${problem}.title`)} text={t(`camera.${problem}.text`)}>
      {problem === 'permission_denied' && (
        <div class="how">
          {allowHelp(page.userAgent).map((key) => (
            <p key={key}>{t(key)}</p>
          ))}
        </div>
      )}
      <div class="buttons">
        <Button action="document-again" look="main" onPress={() => actions.document({ do: 'again' })}>
          {t('camera.again')}
        </Button>
        {view.mayHandOff && (
          <Button action="handoff-here" onPress={actions.askHandoff}>
            {t('menu.handoff')}
          </Button>
        )}
        <OtherWay {...props} />
      </div>
    </Still>
  )
}
