import type { JSX } from 'preact'
import type { SessionProblem } from '../flow/states.ts'
import { Button } from './parts/button.tsx'
import { CopyLink } from './parts/copy-link.tsx'
import type { IconName } from './parts/icons.tsx'
import { Still } from './parts/still.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

/** The session cannot be shown. Every problem says what to do about it. */
export function ProblemScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts, page } = props
  const { t } = texts
  if (view.state.at !== 'problem') return null
  const { problem } = view.state
  return (
    <Still icon={ICONS[problem]} mood="alert" title={t(`problem.${problem}.title`)} text={t(`problem.${problem}.text`)}>
      {AGAIN.includes(problem) && (
        <div class="buttons">
          <Button action="retry" look="main" onPress={actions.reopen}>
            {t('problem.again')}
          </Button>
        </div>
      )}
      {problem === 'phone_needed' && (
        <div class="buttons">
          <CopyLink link={page.link} look="main" t={t} />
        </div>
      )}
      {problem === 'number_wrong' && <WayOut {...props} />}
    </Still>
  )
}

const AGAIN: readonly SessionProblem[] = ['no_network', 'busy', 'fault', 'other_device']

const ICONS: Readonly<Record<SessionProblem, IconName>> = {
  unknown_link: 'link',
  gone: 'clock',
  no_network: 'cloudOff',
  other_device: 'phone',
  code_refused: 'clock',
  number_wrong: 'warning',
  phone_needed: 'phone',
  busy: 'clock',
  step_missing: 'hand',
  fault: 'hand',
}
