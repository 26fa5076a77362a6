import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

/** The user or the host cancelled. */
export function CancelledScreen(props: ScreenProps): JSX.Element {
  const { t } = props.texts
  return (
    <div class="screen screen--still">
      <Emblem icon="pause" mood="alert" />
      <Title>{t('cancelled.title')}</Title>
      <p class="lead">{t('cancelled.text')}</p>
      <WayOut {...props} />
    </div>
  )
}
