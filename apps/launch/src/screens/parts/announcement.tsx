import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { createAnnouncer } from '../../flow/announcer.ts'

/** Announces the visible text to screen readers, at a rate that can be followed. */
export function Announcement({ text, nowMs }: { text: string; nowMs(): number }): JSX.Element {
  const announcer = useRef(createAnnouncer())
  const [said, setSaid] = useState('')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const say = () => {
      const { text: due, waitMs } = announcer.current.next(text, nowMs())
      if (due !== null) setSaid(due)
      if (waitMs !== null) timer = setTimeout(say, waitMs)
    }
    say()
    return () => clearTimeout(timer)
  }, [text])
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said}
    </p>
  )
}
