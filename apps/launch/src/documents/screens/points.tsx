import type { JSX } from 'preact'
import { Point } from '../../screens/parts/point.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { documentText } from '../../texts/documents-texts.ts'
import type { DocumentView } from '../document-types.ts'

/** What the consent screen says about the document: that one is or may be asked for, and what is sent of it. */
export function DocumentPoints({ view, texts }: Pick<ScreenProps, 'view' | 'texts'>): JSX.Element | null {
  const { document: shown } = view
  if (!shown) return null
  const t = documentText(texts)
  const isSure = shown.asked.when === 'always'
  return (
    <>
      {!shown.alone && (
        <Point
          icon="person"
          title={t(isSure ? 'point.alwaysTitle' : 'point.stepUpTitle')}
          text={t(isSure ? 'point.always' : 'point.stepUp')}
        />
      )}
      <Point icon="numbers" title={t('point.factsTitle')} text={t(factsKey(shown))} />
      {shown.asked.reuseCheck && (
        <Point icon="key" note="reuse" title={t('point.reuseTitle')} text={t('point.reuse')} />
      )}
    </>
  )
}

function factsKey({ asked: { ageFormat } }: DocumentView): 'point.facts' | 'point.factsYears' | 'point.factsNoAge' {
  if (ageFormat === null) return 'point.factsNoAge'
  return ageFormat === 'threshold' ? 'point.facts' : 'point.factsYears'
}
