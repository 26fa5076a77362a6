import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { clockText, secondsUntil } from '../../flow/countdown.ts'

interface Props {
  untilMs: number
  /** By this device's clock, set right by the server's. */
  nowMs(): number
  locale: string
  /** What stands around the time; null for nothing at all at the moment. */
  children(time: string, secondsLeft: number): JSX.Element | null
}

/** Counts down to a moment, once a second. Nobody is told aloud: the time is there for whoever looks. */
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
