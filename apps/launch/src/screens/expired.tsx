import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

export function ExpiredScreen(props: ScreenProps): JSX.Element {
  const { t } = props.texts
  return (
    <div class="screen screen--still">
      <Emblem icon="clock" mood="alert" />
      <Title>{t('expired.title')}</Title>
      <p class="lead">{t('expired.text')}</p>
      <WayOut {...props} />
    </div>
  )
}
