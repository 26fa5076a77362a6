import type { JSX } from 'preact'

/**
 * Tells a screen reader at once. Where the text of a heading that already has the focus changes, nothing else would. It is there
 * before it has a text: screen readers overlook one that appears together with its text.
 */
export function Alert({ text }: { text: string }): JSX.Element {
  return (
    <p class="unseen" role="alert">
      {text}
    </p>
  )
}
