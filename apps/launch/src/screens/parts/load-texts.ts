import type { View } from '../../flow/view.ts'
import type { Translate } from '../../texts/translate.ts'

/** Longer than this is slow: the page says how long, and offers another device. */
const SLOW_SECONDS = 60
/** Less is not worth a sentence. */
const NAMED_BYTES_MIN = 100_000
/** These steps are announced. */
const SPOKEN_STEPS = [0.75, 0.5, 0.25]

/** Megabytes, with one decimal below ten. */
export function megabytesText(bytes: number, locale: string): string {
  const megabytes = bytes / 1e6
  const maximumFractionDigits = megabytes < 10 ? 1 : 0
  return unitText(megabytes, locale, { unit: 'megabyte', unitDisplay: 'short', maximumFractionDigits })
}

/** Whole minutes from a minute and a half on, before that tens of seconds. Rounded up: a promise that is kept. */
export function timeText(seconds: number, locale: string): string {
  return seconds >= 90
    ? unitText(Math.ceil(seconds / 60), locale, { unit: 'minute', unitDisplay: 'long' })
    : unitText(Math.max(1, Math.ceil(seconds / 10)) * 10, locale, { unit: 'second', unitDisplay: 'long' })
}

function unitText(value: number, locale: string, options: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale, { style: 'unit', ...options }).format(value)
}

/** What the first screen says of the download; undefined when nothing has to be downloaded. */
export function downloadText(download: View['download'], t: Translate, locale: string): string | undefined {
  if (!download || download.bytes < NAMED_BYTES_MIN) return undefined
  const { bytes, seconds = 0, later } = download
  const size = megabytesText(bytes, locale)
  if (later) return t('welcome.loadLater', { size })
  return seconds > SLOW_SECONDS
    ? t('welcome.loadSlow', { size, time: timeText(seconds, locale) })
    : t('welcome.load', { size })
}

/** Whether the loading screen itself offers another device. One that was handed the session is that other device. */
export function offersOtherDevice({
  capture,
  loading,
  mayHandOff,
  secondDevice,
}: Pick<View, 'capture' | 'loading' | 'mayHandOff' | 'secondDevice'>): boolean {
  return !capture && mayHandOff && !secondDevice && (loading?.secondsLeft ?? 0) > SLOW_SECONDS
}

/** The share that has come, from 0 to 1. */
export function shareOf(loading: View['loading']): number {
  if (!loading || loading.secondsLeft === 0) return 1
  return loading.totalBytes > 0 ? loading.loadedBytes / loading.totalBytes : 0
}

/** The last quarter that was passed; undefined before the first and after the end. */
export function spokenShare(share: number): number | undefined {
  return share < 1 ? SPOKEN_STEPS.find((step) => share >= step) : undefined
}

export function percentText(share: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'percent' }).format(share)
}
