import { useLayoutEffect, useRef } from 'preact/hooks'
import type { CaptureView } from '../../capture/capture-types.ts'

/**
 * Whether the page is a lamp: white from the first `too_dark` until the movements are over. It does not go out when the light suffices,
 * because it may suffice only by the lamp. The colours are in style/capture.css.
 */
export function useLamp(capture: CaptureView | null): boolean {
  const lit = useRef(false)
  lit.current = isLit(lit.current, capture)
  const isOn = lit.current
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-lamp', isOn)
    return () => document.documentElement.removeAttribute('data-lamp')
  }, [isOn])
  return isOn
}

export function isLit(was: boolean, capture: Pick<CaptureView, 'phase' | 'guidance'> | null): boolean {
  if (!capture || capture.phase === 'measure') return false
  return was || capture.guidance === 'too_dark'
}
