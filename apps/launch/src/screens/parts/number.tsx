import type { JSX } from 'preact'
import type { Translate } from '../../texts/translate.ts'

/** The number that the user types on the other device. */
export function HandoffNumber({ number, t }: { number: string; t: Translate }): JSX.Element {
  return (
    <p class="number">
      {t('handoff.number')}
      <strong dir="ltr" data-number>
        {number}
      </strong>
    </p>
  )
}
