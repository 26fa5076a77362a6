import type { JSX } from 'preact'
import { VIEWER_STAGES, type ViewerStage } from '../flow/states.ts'
import { Button } from './parts/button.tsx'
import { Icon } from './parts/icons.tsx'
import { HandoffNumber } from './parts/number.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** Stages that not every session has. */
const ONLY_SOME: readonly ViewerStage[] = ['document', 'passkey']

/** Another device runs the flow. This one shows its progress and continues by itself at the end. */
export function ViewerScreen({ view, actions, texts: { t } }: ScreenProps): JSX.Element | null {
  if (view.state.at !== 'viewer') return null
  const { stage } = view.state
  const asked: readonly ViewerStage[] = [
    ...(view.document?.asked.when === 'always' ? (['document'] as const) : []),
    ...(view.verification?.requirements.includes('passkey') ? (['passkey'] as const) : []),
  ]
  const shown = VIEWER_STAGES.filter((name) => !ONLY_SOME.includes(name) || stage === name || asked.includes(name))
  const now = shown.indexOf(stage)
  return (
    <div class="screen">
      <Title>{t('viewer.title')}</Title>
      <p class="lead">{t('viewer.text')}</p>
      {stage === 'scanned' && view.number !== null && (
        <HandoffNumber number={view.number} label={t('handoff.number')} />
      )}
      <ol class="stages">
        {shown.map((name, index) => (
          <li
            key={name}
            class={index < now ? 'is-past' : index === now ? 'is-now' : undefined}
            aria-current={index === now ? 'step' : undefined}
          >
            <span class="stage__dot">{index < now && <Icon name="check" size={16} />}</span>
            {t(`viewer.${name}`)}
          </li>
        ))}
      </ol>
      <p class="unseen" role="status">
        {t(`viewer.${stage satisfies ViewerStage}`)}
      </p>
      <div class="buttons">
        {view.takeBackRefused && (
          <p class="small" role="alert">
            {t('viewer.backRefused')}
          </p>
        )}
        {!view.barred && !view.takeBackRefused && (
          <Button action="take-back" onPress={actions.takeBack}>
            {t('viewer.back')}
          </Button>
        )}
      </div>
    </div>
  )
}
