import type { MovementKind } from '@ostiary/contract'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Tip } from '../flow/states.ts'
import type { TextKey } from '../texts/translate.ts'
import { Button } from './parts/button.tsx'
import { CannotList } from './parts/cannot-list.tsx'
import { Emblem } from './parts/emblem.tsx'
import { Icon, type IconName } from './parts/icons.tsx'
import { Links } from './parts/links.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** Another try. Says what the user can do better, and never which check failed. */
export function RetryScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts } = props
  const { t } = texts
  const [chosen, setChosen] = useState<readonly MovementKind[]>(view.cannot)
  if (view.state.at !== 'retry') return null
  // A look at the face in the document step is no try of the face step.
  const left = view.session?.state === 'DOC_ACTIVE' ? 0 : (view.session?.attemptsLeft ?? 0)
  const tryAgain = () => {
    const added = chosen.filter((kind) => !view.cannot.includes(kind))
    if (added.length > 0) actions.cannot(added)
    actions.startCamera()
  }
  return (
    <div class="screen">
      <Emblem icon="again" />
      <Title>{t('retry.title')}</Title>
      <p class="lead">
        {t(`retry.${view.state.tip}`)} {left > 0 && t('retry.left', { count: left })}
      </p>
      <ul class="tips">
        {tipsFor(view.state.tip).map(({ icon, text }) => (
          <li key={text}>
            <Icon name={icon} size={22} />
            <span>{t(text)}</span>
          </li>
        ))}
      </ul>
      <CannotList {...props} chosen={chosen} onChoose={setChosen} />
      <Links {...props} />
      <div class="buttons buttons--stay">
        <Button action="retry" look="main" onPress={tryAgain}>
          {t('retry.again')}
        </Button>
      </div>
    </div>
  )
}

interface Advice {
  icon: IconName
  text: TextKey
}

/** Who was too far away needs that advice first. */
function tipsFor(tip: Tip): readonly Advice[] {
  return tip === 'far' ? [{ icon: 'person', text: 'retry.tipFill' }, ...TIPS] : TIPS
}

const TIPS: readonly Advice[] = [
  { icon: 'light', text: 'retry.tipLight' },
  { icon: 'level', text: 'retry.tipLevel' },
  { icon: 'bare', text: 'retry.tipBare' },
  { icon: 'follow', text: 'retry.tipFollow' },
]
