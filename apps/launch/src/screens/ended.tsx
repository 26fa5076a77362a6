import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

/** The flow is over without a verdict. */
export function EndedScreen(props: ScreenProps): JSX.Element {
  const { view, texts } = props
  const { t } = texts
  return (
    <div class="screen screen--still">
      <Emblem icon="pause" mood="alert" />
      <Title>{t('ended.title')}</Title>
      <p class="lead">{view.brand ? t('ended.text', { name: view.brand.name }) : t('ended.textNobody')}</p>
      {props.more}
      <WayOut {...props} />
    </div>
  )
}
