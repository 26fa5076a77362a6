import type { ComponentChildren, JSX } from 'preact'

interface Props {
  action: string
  onPress(): void
  look?: 'main' | 'soft' | 'text' | 'alert'
  /** Keeps the button where it is and deaf, while what it began is under way. */
  busy?: boolean
  children: ComponentChildren
}

export function Button({ action, onPress, look = 'text', busy = false, children }: Props): JSX.Element {
  return (
    <button
      type="button"
      class={`button button--${look}`}
      data-action={action}
      // Not `disabled`: focus would be lost in the middle of the page.
      aria-disabled={busy}
      onClick={() => {
        if (!busy) onPress()
      }}
    >
      {children}
    </button>
  )
}
