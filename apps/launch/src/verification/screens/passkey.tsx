import type { JSX } from 'preact'
import type { PasskeyStatus } from '../../flow/states.ts'
import { Alert } from '../../screens/parts/alert.tsx'
import { Button } from '../../screens/parts/button.tsx'
import { Emblem } from '../../screens/parts/emblem.tsx'
import { Title } from '../../screens/parts/title.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { ownText } from '../../texts/verification-texts.ts'

const WAITS: readonly PasskeyStatus[] = ['asking', 'checking']

/** Before the device asks, while it asks, and what to do when there is no passkey after all. */
export function PasskeyScreen({ view, actions, texts }: ScreenProps): JSX.Element | null {
  const { state, verification } = view
  if (state.at !== 'passkey' || !verification) return null
  const t = ownText(texts)
  const { status } = state
  const mode = verification.passkeyMode ?? (verification.type === 'ENROLL' ? 'create' : 'get')
  const said = status === 'prime' ? mode : status
  const waits = WAITS.includes(status)
  return (
    <div class="screen screen--still" data-mode={mode}>
      <Emblem icon="key" mood={waits ? 'wait' : status === 'prime' ? 'plain' : 'alert'} />
      <Title>{t(`passkey.${said}.title`)}</Title>
      <Alert text={waits || status === 'prime' ? '' : t(`passkey.${said}.title`)} />
      <p class="lead" role={waits ? 'status' : undefined}>
        {t(`passkey.${said}.text`)}
      </p>
      {!waits && (
        <div class="buttons">
          {verification.mustPopOut
            ? view.mayHandOff && (
                <Button action="pop-out" look="main" onPress={actions.popOut}>
                  {t('popOut')}
                </Button>
              )
            : status !== 'unsupported' && (
                <Button action="passkey" look="main" onPress={actions.askPasskey}>
                  {t(status === 'prime' ? `passkey.${mode}.button` : 'passkey.again')}
                </Button>
              )}
          {view.mayHandOff && (status === 'unsupported' || status === 'none_here') && (
            <Button
              action="handoff-here"
              look={status === 'unsupported' ? 'main' : 'text'}
              onPress={actions.askHandoff}
            >
              {texts.t('menu.handoff')}
            </Button>
          )}
          <Button action="passkey-skip" onPress={actions.skipPasskey}>
            {t('passkey.skip')}
          </Button>
        </div>
      )}
    </div>
  )
}
