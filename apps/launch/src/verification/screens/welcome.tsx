import type { JSX } from 'preact'
import { Button } from '../../screens/parts/button.tsx'
import { Point } from '../../screens/parts/point.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { WelcomeScreen } from '../../screens/welcome.tsx'
import { ownText, sendsTokens } from '../../texts/verification-texts.ts'

/** The consent question, with what these sessions need besides the face. A shared selfie is emphasised. */
export function VerificationWelcome(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts } = props
  const { verification, brand } = view
  if (!verification) return null
  const t = ownText(texts)
  const { type, sendImages, estimateAge, requirements, mustPopOut } = verification
  const name = brand?.name
  const more = (
    <>
      {sendsTokens({ verification }) && <Point icon="key" title={t('tokenTitle')} text={t('tokenText')} />}
      {props.more}
      {estimateAge && <Point icon="clock" title={t('ageTitle')} text={t('ageText')} />}
      {requirements.includes('passkey') && (
        <Point
          icon="key"
          title={t('passkeyTitle')}
          text={t(type === 'ENROLL' ? 'passkeyCreateText' : 'passkeyGetText')}
        />
      )}
      {type === 'ENROLL' && (
        <Point
          icon="clock"
          title={t('keptTitle')}
          text={name === undefined ? t('keptTextNobody') : t('keptText', { name })}
        />
      )}
    </>
  )
  // First, so that a user who agrees without reading further has still seen it.
  const first = sendImages && (
    <Point
      icon="person"
      note="selfie"
      title={t('selfieTitle')}
      text={name === undefined ? t('selfieTextNobody') : t('selfieText', { name })}
    />
  )
  if (!mustPopOut) return <WelcomeScreen {...props} first={first} more={more} />
  const instead = view.mayHandOff ? (
    <>
      <p class="consent">{t('popOutText')}</p>
      <Button action="pop-out" look="main" onPress={actions.popOut}>
        {t('popOut')}
      </Button>
    </>
  ) : (
    <p class="how">{t('popOutNone')}</p>
  )
  return <WelcomeScreen {...props} first={first} more={more} instead={instead} />
}
