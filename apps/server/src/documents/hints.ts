import type { DocumentHint, RiskFlagCode } from '@ostiary/contract'

const FLAGS: Readonly<Record<DocumentHint, RiskFlagCode>> = {
  screen: 'DO_SCREEN',
  copy: 'DO_COPY',
  pasted_portrait: 'DO_PASTED_PORTRAIT',
  sides_disagree: 'DO_SIDES_DISAGREE',
  no_portrait: 'DO_NO_PORTRAIT',
}

/** A hint raises a flag and refuses nothing: its false alarms are measured on drawn pictures only (docs/accuracy/documents.md). */
export function flagsOfHints(hints: readonly DocumentHint[]): RiskFlagCode[] {
  return hints.map((hint) => FLAGS[hint])
}
