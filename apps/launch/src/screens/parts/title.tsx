import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** The heading of a screen. It takes the focus when it comes up or changes, so that reading and tabbing begin there. */
export function Title({ children, unseen = false }: { children: string; unseen?: boolean }): JSX.Element {
  const element = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Whoever is just choosing a language stays there: the heading changed, the screen did not.
    const isChoosing = document.activeElement instanceof HTMLSelectElement
    if (!isChoosing) element.current?.focus({ preventScroll: true })
  }, [children])
  return (
    <h1 ref={element} tabIndex={-1} class={unseen ? 'unseen' : undefined}>
      {children}
    </h1>
  )
}
