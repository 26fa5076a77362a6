import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

/** The flow is over. Only the host may show the result, so this screen is the same for everybody. */
export function DoneScreen(props: ScreenProps): JSX.Element {
  const { view, texts } = props
  const { t } = texts
  const text = view.secondDevice
    ? t('done.second')
    : view.brand
      ? t('done.text', { name: view.brand.name })
      : t('done.textNobody')
  return (
    <div class="screen screen--still">
      <Emblem icon="check" mood="done" />
      <Title>{t('done.title')}</Title>
      <p class="lead">{text}</p>
      <WayOut {...props} />
    </div>
  )
}
