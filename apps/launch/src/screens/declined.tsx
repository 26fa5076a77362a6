import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

export function DeclinedScreen(props: ScreenProps): JSX.Element {
  const { view, texts } = props
  const { t } = texts
  return (
    <div class="screen screen--still">
      <Emblem icon="home" />
      <Title>{t('declined.title')}</Title>
      <p class="lead">{view.brand ? t('declined.text', { name: view.brand.name }) : t('declined.textNobody')}</p>
      <WayOut {...props} />
    </div>
  )
}
