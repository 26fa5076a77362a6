import { type CapturePayload, INDICATOR_PATHS, type IndicatorPath, readIndicators } from '@ostiary/contract'
import { flagsOfIndicators } from '../risk/index.ts'
import { type Progress, withFlags } from '../sessions/index.ts'

/** What the headers of a call say about its sender. */
export interface Sender {
  userAgent: string | undefined
  /**
   * Whether the call has a header that browsers add to every POST of a page and that no page can set or leave out: `Origin`, or
   * `Sec-Fetch-Site` where a proxy removes the other.
   */
  isBrowser: boolean
}

/**
 * Whether a capture lacks what the launch page always sends: the indicators and, since this release (`tellsCamera`), the size of the
 * camera's pictures. Indicators that the page cannot have sent from the browser of this call count as missing. This finds clients that
 * are not browsers and take no care to look like one, and no others: all of it can be invented.
 */
export function lacksBrowserData(
  { indicators, metadata }: Pick<CapturePayload, 'indicators' | 'metadata'>,
  { userAgent, isBrowser }: Sender,
  tellsCamera: boolean,
): boolean {
  if (tellsCamera && !isCamera(metadata?.camera)) return true
  return indicators === undefined || userAgent === undefined || !isBrowser || isImpossible(indicators, userAgent)
}

/** What the browser says about itself, with the flags that this raises. */
export function withBrowser(
  progress: Progress,
  { indicators: marks, browser }: Pick<CapturePayload, 'indicators' | 'browser'>,
): Progress {
  if (marks === undefined) return progress
  const indicators = readIndicators(marks)
  const context = { kind: browser?.kind ?? 'ordinary', phoneCamera: browser?.phoneCamera ?? false } as const
  return withFlags({ ...progress, indicators }, flagsOfIndicators(indicators, context))
}

/** The size of real pictures, in whole pixels. */
function isCamera(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('width' in value) || !('height' in value)) return false
  return [value.width, value.height].every((pixels) => Number.isInteger(pixels) && Number(pixels) >= PICTURE_PIXELS_MIN)
}
/** No camera that a browser opens has smaller pictures. */
const PICTURE_PIXELS_MIN = 64

/** The page reads these in every browser. */
const ALWAYS_EVALUATED: readonly IndicatorPath[] = [
  'headless.phantom',
  'headless.selenium',
  'browserAnomalies.automationProperties',
]
/** The page reads these in Chromium only, and the last one only on a desktop (apps/launch/src/signals/headless.ts). */
const CHROMIUM_ONLY: readonly IndicatorPath[] = ['headless.chrome', 'headless.permissions', 'headless.plugins']
const DESKTOP_ONLY: readonly IndicatorPath[] = ['headless.plugins']

function isImpossible(indicators: string, userAgent: string): boolean {
  const isEvaluated = (path: IndicatorPath) => indicators[INDICATOR_PATHS.indexOf(path)] !== '-'
  if (!ALWAYS_EVALUATED.every(isEvaluated)) return true
  if (!isChromium(userAgent)) return CHROMIUM_ONLY.some(isEvaluated)
  return /\bAndroid\b/.test(userAgent) && DESKTOP_ONLY.some(isEvaluated)
}

/** Every browser on an iPhone or iPad runs WebKit, whatever its name is. */
function isChromium(userAgent: string): boolean {
  return (
    /\b(?:Headless)?Chrome\/\d/.test(userAgent) &&
    !/\b(?:iPhone|iPad|iPod)\b.*\bAppleWebKit\/|\bEdge\/\d/.test(userAgent)
  )
}
