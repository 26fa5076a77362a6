import type { JSX } from 'preact'

/** The number that the user types on the other device. */
export function HandoffNumber({ number, label }: { number: string; label: string }): JSX.Element {
  return (
    <p class="number">
      {label}
      <strong dir="ltr" data-number>
        {number}
      </strong>
    </p>
  )
}
