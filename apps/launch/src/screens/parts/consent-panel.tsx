import type { ComponentChildren, JSX, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { staysInView } from './panel-size.ts'

interface Props {
  /** Ends the text that has to be read. */
  end: RefObject<HTMLElement | null>
  /** Changes with the text. */
  language: string
  /** Above the buttons. */
  children: ComponentChildren
  agree: { text: string; readOn: string; busy: boolean; working: string | undefined; onPress(): void } | null
  decline: ComponentChildren
}

/** What of the page stays in view after a press on "Read on". */
const OVERLAP_PX = 48

/**
 * The question of the consent screen. It stays in view, unless it would cover too much of the text. Until the end of the text was in view,
 * its main button scrolls on: nobody agrees to what was never on the screen.
 */
export function ConsentPanel({ end, language, children, agree, decline }: Props): JSX.Element {
  const panel = useRef<HTMLDivElement>(null)
  const [isSticky, setSticky] = useState(true)
  const [read, setRead] = useState<'no' | 'at_once' | 'later'>('no')
  useLayoutEffect(() => {
    const fit = () => setSticky(staysInView(panel.current?.offsetHeight ?? 0, innerHeight))
    fit()
    addEventListener('resize', fit)
    return () => removeEventListener('resize', fit)
  }, [language])
  useLayoutEffect(() => {
    setRead(isEndInView(end.current, panel.current) ? 'at_once' : 'no')
  }, [language, isSticky])
  useEffect(() => {
    if (read !== 'no' || !end.current) return undefined
    const coveredPx = isSticky ? (panel.current?.offsetHeight ?? 0) : 0
    const watch = observerOf(`0px 0px -${coveredPx}px`, () => setRead('later'))
    watch.observe(end.current)
    return () => watch.disconnect()
  }, [read, isSticky])
  const isRead = read !== 'no'
  const readOn = (): void => {
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    const behavior = isCalm ? 'auto' : 'smooth'
    // A user who jumped to the button has passed the end without seeing it.
    const isPassed = (end.current?.getBoundingClientRect().bottom ?? 0) < 0
    const shownPx = innerHeight - (isSticky ? (panel.current?.offsetHeight ?? 0) : 0)
    if (isPassed) end.current?.scrollIntoView({ block: 'center', behavior })
    else scrollBy({ top: Math.max(OVERLAP_PX, shownPx - OVERLAP_PX), behavior })
  }
  return (
    <div class={`buttons ${isSticky ? 'buttons--stay' : ''}`} data-consent-panel ref={panel}>
      {children}
      {agree && (
        <>
          {/* The same element: a user who has pressed it keeps the focus. */}
          <Button
            action={isRead ? 'consent' : 'read-on'}
            look="main"
            busy={agree.busy}
            working={agree.working}
            onPress={isRead ? agree.onPress : readOn}
          >
            {isRead ? agree.text : agree.readOn}
          </Button>
          <p class="unseen" role="status">
            {read === 'later' ? agree.text : ''}
          </p>
        </>
      )}
      {decline}
    </div>
  )
}

function observerOf(rootMargin: string, onSeen: () => void): IntersectionObserver {
  const look = ([seen]: IntersectionObserverEntry[]) => seen?.isIntersecting && onSeen()
  try {
    // Without the root a margin does not count inside another site's frame.
    return new IntersectionObserver(look, { root: document, rootMargin })
  } catch {
    // Older browsers take an element only.
    return new IntersectionObserver(look, { rootMargin })
  }
}

function isEndInView(end: Element | null, panel: Element | null): boolean {
  if (!end || !panel) return true
  return end.getBoundingClientRect().bottom <= Math.min(innerHeight, panel.getBoundingClientRect().top) + 1
}
