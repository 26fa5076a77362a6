import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** The heading of a screen. It takes the focus when it appears or changes, so that reading and tabbing start there. */
export function Title({ children, unseen = false }: { children: string; unseen?: boolean }): JSX.Element {
  const element = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // A user who changes the language keeps the focus there: only the heading's text changed, not the screen.
    const isChoosing = document.activeElement?.closest('[data-action="language"]')
    if (!isChoosing) element.current?.focus({ preventScroll: true })
  }, [children])
  return (
    <h1 ref={element} tabIndex={-1} class={unseen ? 'unseen' : undefined}>
      {children}
    </h1>
  )
}
