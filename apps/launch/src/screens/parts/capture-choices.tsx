import { KIND_OF, type Movement, type MovementKind } from '@ostiary/contract'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ScreenProps } from '../screen.ts'
import { AlternativeLink } from './links.tsx'
import { mayLeaveOut } from './movement-kinds.ts'

type Props = Pick<ScreenProps, 'view' | 'actions' | 'texts'>

interface CannotProps extends Props {
  /** The one that is asked for now; null between two. */
  movement: Movement | null
  /** Another challenge begins, and the button with the focus goes. */
  onAnother(): void
}

/** During the movements: another one instead of this. Two kinds have to stay; then only another way is left. */
export function CannotDoThis({ view, actions, texts, movement, onAnother }: CannotProps): JSX.Element {
  const { t } = texts
  const [isRefused, setRefused] = useState(false)
  const refusal = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (isRefused) refusal.current?.focus()
  }, [isRefused])
  const press = (kind: MovementKind) => {
    if (!mayLeaveOut(view.cannot, kind)) return setRefused(true)
    actions.cannot([kind])
    onAnother()
  }
  return (
    <>
      {movement !== null && !isRefused && (
        <button type="button" class="chip" data-action="cannot" onClick={() => press(KIND_OF[movement])}>
          {t('cannot.this')}
        </button>
      )}
      {isRefused && (
        <p class="small" role="alert" data-least tabIndex={-1} ref={refusal}>
          {t('cannot.least')} <AlternativeLink view={view} texts={texts} />
        </p>
      )}
    </>
  )
}

/** Before the movements, and between two tries. */
export function MoreTime({ view, actions, texts: { t } }: Props): JSX.Element {
  const answer = useRef<HTMLParagraphElement>(null)
  const press = () => {
    actions.askMoreTime()
    // The button with the focus goes.
    answer.current?.focus()
  }
  return (
    <>
      {!view.moreTime && (
        <button type="button" class="chip" data-action="more-time" onClick={press}>
          {t('capture.moreTime')}
        </button>
      )}
      <p class={view.moreTime ? 'small' : 'unseen'} role="status" tabIndex={-1} ref={answer}>
        {view.moreTime && t('capture.hasMoreTime')}
      </p>
    </>
  )
}
