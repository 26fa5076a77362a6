import type { JSX } from 'preact'
import type { SessionProblem } from '../flow/states.ts'
import { Button } from './parts/button.tsx'
import { Emblem } from './parts/emblem.tsx'
import type { IconName } from './parts/icons.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** The session cannot be shown. Every problem says what to do about it. */
export function ProblemScreen({ view, actions, texts: { t } }: ScreenProps): JSX.Element | null {
  if (view.state.at !== 'problem') return null
  const { problem } = view.state
  return (
    <div class="screen screen--still">
      <Emblem icon={ICONS[problem]} mood="alert" />
      <Title>{t(`problem.${problem}.title`)}</Title>
      <p class="lead">{t(`problem.${problem}.text`)}</p>
      {AGAIN.includes(problem) && (
        <div class="buttons">
          <Button action="retry" look="main" onPress={actions.reopen}>
            {t('problem.again')}
          </Button>
        </div>
      )}
    </div>
  )
}

const AGAIN: readonly SessionProblem[] = ['no_network', 'busy', 'fault', 'other_device']

const ICONS: Readonly<Record<SessionProblem, IconName>> = {
  unknown_link: 'link',
  gone: 'clock',
  no_network: 'cloudOff',
  other_device: 'phone',
  code_refused: 'clock',
  busy: 'clock',
  step_missing: 'hand',
  fault: 'hand',
}
