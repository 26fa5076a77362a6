import type { JSX } from 'preact'
import type { TextKey } from '../texts/translate.ts'
import { Button } from './parts/button.tsx'
import { Emblem } from './parts/emblem.tsx'
import { Icon, type IconName } from './parts/icons.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** Another try. Says what the user can do better, and never which check failed. */
export function RetryScreen({ view, actions, texts: { t } }: ScreenProps): JSX.Element | null {
  if (view.state.at !== 'retry') return null
  // A look at the face in the document step is no try of the face step.
  const left = view.session?.state === 'DOC_ACTIVE' ? 0 : (view.session?.attemptsLeft ?? 0)
  return (
    <div class="screen">
      <Emblem icon="again" />
      <Title>{t('retry.title')}</Title>
      <p class="lead">
        {t(`retry.${view.state.tip}`)} {left > 0 && t('retry.left', { count: left })}
      </p>
      <ul class="tips">
        {TIPS.map(({ icon, text }) => (
          <li key={text}>
            <Icon name={icon} size={22} />
            <span>{t(text)}</span>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button action="retry" look="main" onPress={actions.startCamera}>
          {t('retry.again')}
        </Button>
      </div>
    </div>
  )
}

const TIPS: readonly { icon: IconName; text: TextKey }[] = [
  { icon: 'light', text: 'retry.tipLight' },
  { icon: 'level', text: 'retry.tipLevel' },
  { icon: 'bare', text: 'retry.tipBare' },
  { icon: 'follow', text: 'retry.tipFollow' },
]
