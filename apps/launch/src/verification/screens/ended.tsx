import * as codes from '@ostiary/contract/codes'
import type { JSX } from 'preact'
import { EndedScreen } from '../../screens/ended.tsx'
import { Emblem } from '../../screens/parts/emblem.tsx'
import { Title } from '../../screens/parts/title.tsx'
import { WayOut } from '../../screens/parts/way-out.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { ownText } from '../../texts/verification-texts.ts'

/** The same for everybody, except that a locked-out user sees that they must wait: another try now would fail. */
export function VerificationEnded(props: ScreenProps): JSX.Element {
  const { view, texts } = props
  if (!view.session?.errors.includes(codes.TEMPORARILY_LOCKED)) return <EndedScreen {...props} />
  const t = ownText(texts)
  return (
    <div class="screen screen--still" data-locked>
      <Emblem icon="clock" mood="alert" />
      <Title>{t('locked.title')}</Title>
      <p class="lead">{t('locked.text')}</p>
      <WayOut {...props} />
    </div>
  )
}
