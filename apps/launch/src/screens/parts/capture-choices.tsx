import { KIND_OF, type Movement } from '@ostiary/contract'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ScreenProps } from '../screen.ts'
import { AlternativeLink } from './links.tsx'
import { mayLeaveOut } from './movement-kinds.ts'

type Props = Pick<ScreenProps, 'view' | 'actions' | 'texts'>

/** During the movements: another one instead of this. Two kinds have to stay; then only another way is left. */
export function CannotDoThis({ view, actions, texts, movement }: Props & { movement: Movement }): JSX.Element {
  const { t } = texts
  const [refused, setRefused] = useState<Movement | null>(null)
  const kind = KIND_OF[movement]
  const press = () => {
    if (mayLeaveOut(view.cannot, kind)) actions.cannot([kind])
    else setRefused(movement)
  }
  if (refused !== null) {
    return (
      <p class="small" role="alert" data-least>
        {t('cannot.least')} <AlternativeLink view={view} texts={texts} />
      </p>
    )
  }
  return (
    <button type="button" class="chip" data-action="cannot" onClick={press}>
      {t('cannot.this')}
    </button>
  )
}

/** Before the movements, and between two tries. */
export function MoreTime({ view, actions, texts: { t } }: Props): JSX.Element {
  return view.moreTime ? (
    <p class="small" role="status" data-more-time>
      {t('capture.hasMoreTime')}
    </p>
  ) : (
    <button type="button" class="chip" data-action="more-time" onClick={actions.askMoreTime}>
      {t('capture.moreTime')}
    </button>
  )
}
