import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { clockText, secondsUntil } from '../../flow/countdown.ts'

interface Props {
  untilMs: number
  /** By this device's clock, corrected by the server's. */
  nowMs(): number
  locale: string
  /** The text around the time; null to show nothing. */
  children(time: string, secondsLeft: number): JSX.Element | null
}

/** Counts down once a second. Screen readers do not announce it. */
export function Countdown({ untilMs, nowMs, locale, children }: Props): JSX.Element | null {
  const [seconds, setSeconds] = useState(secondsUntil(untilMs, nowMs()))
  useEffect(() => {
    const look = () => setSeconds(secondsUntil(untilMs, nowMs()))
    look()
    const timer = setInterval(look, 500)
    return () => clearInterval(timer)
  }, [untilMs])
  return children(clockText(seconds, locale), seconds)
}
