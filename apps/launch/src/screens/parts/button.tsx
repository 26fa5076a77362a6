import type { ComponentChildren, JSX } from 'preact'

interface Props {
  action: string
  /** Without it, the button submits its form. */
  onPress?: () => void
  look?: 'main' | 'soft' | 'text' | 'alert'
  /** Shows the button but ignores taps while its action is running. */
  busy?: boolean
  /** The text of a busy button that was pressed. It also gets a spinner. */
  working?: string | undefined
  children: ComponentChildren
}

export function Button({ action, onPress, look = 'text', busy = false, working, children }: Props): JSX.Element {
  return (
    <button
      type={onPress ? 'button' : 'submit'}
      class={`button button--${look}`}
      data-action={action}
      // Not `disabled`: the button would lose the focus.
      aria-disabled={busy}
      aria-busy={working !== undefined}
      onClick={() => {
        if (!busy) onPress?.()
      }}
    >
      {working === undefined ? (
        children
      ) : (
        <>
          <span class="spinner" />
          {working}
        </>
      )}
    </button>
  )
}
