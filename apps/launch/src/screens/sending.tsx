import type { JSX } from 'preact'
import { Emblem } from './parts/emblem.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** The capture is being submitted. After a lost connection the page retries as long as the challenge is valid. */
export function SendingScreen({ view, texts: { t } }: ScreenProps): JSX.Element {
  return (
    <div class="screen screen--still">
      <Emblem icon={view.offline ? 'cloudOff' : 'numbers'} mood="wait" />
      <Title>{t('sending.title')}</Title>
      <p class="lead" role="status">
        {t(view.offline ? 'sending.offline' : 'sending.text')}
      </p>
    </div>
  )
}
