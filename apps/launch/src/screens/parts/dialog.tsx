import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  name: string
  title: string
  onClose(): void
  children: ComponentChildren
}

/** A modal dialog of the browser: it traps the focus, closes with Escape, and restores the focus. */
export function Dialog({ name, title, onClose, children }: Props): JSX.Element {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const dialog = element.current
    dialog?.showModal()
    return () => {
      // Nothing behind an open dialog can get the focus, so close it first.
      dialog?.close()
      // The screen behind the dialog may have changed.
      const back = before?.isConnected && before !== document.body ? before : document.querySelector('main h1')
      if (back instanceof HTMLElement) back.focus()
    }
  }, [])
  return (
    <dialog ref={element} data-dialog={name} aria-labelledby={`${name}-title`} onClose={onClose}>
      <h1 id={`${name}-title`} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </dialog>
  )
}
