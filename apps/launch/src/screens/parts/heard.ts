import type { CaptureView } from '../../capture/capture-types.ts'
import type { View } from '../../flow/view.ts'
import type { Texts } from '../../texts/languages.ts'
import type { Translate } from '../../texts/translate.ts'
import { percentText, shareOf, spokenShare } from './load-texts.ts'

export const guidanceKey = ({ guidance }: Pick<CaptureView, 'guidance'>) => `guidance.${guidance ?? 'no_face'}` as const

/** Announced at once, over everything else: that movements come, each of them, and that it was seen. Eyes may be closed, and there is little time. */
export function urgentText(capture: CaptureView | null, t: Translate): string {
  if (capture?.phase !== 'challenge') return ''
  if (capture.movement !== null) return t(`movement.${capture.movement}`)
  return t(capture.movementsSeen > 0 ? 'capture.back' : 'capture.ready')
}

/** Announced when there is a pause: how much is loaded, the guidance, and the end. */
export function politeText({ capture, loading }: Pick<View, 'capture' | 'loading'>, { t, tag }: Texts): string {
  if (!capture) {
    const share = spokenShare(shareOf(loading))
    return share === undefined ? t('capture.load') : t('capture.loadSpoken', { percent: percentText(share, tag) })
  }
  if (capture.phase === 'measure') return `${t('capture.measure')}. ${t('capture.measureText')}`
  return capture.phase === 'find' ? t(guidanceKey(capture)) : ''
}
