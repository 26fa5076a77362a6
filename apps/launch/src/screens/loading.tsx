import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

export function LoadingScreen({ texts: { t } }: ScreenProps): JSX.Element {
  return (
    <div class="screen screen--still">
      <Emblem icon="level" mood="wait" />
      <Title>{t('loading.title')}</Title>
      <p class="lead">{t('loading.text')}</p>
    </div>
  )
}
