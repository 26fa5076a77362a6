/**
 * The cut of OCR-B that is reported on: OCRB7 of the npm package bwip-js. Its licence is not stated, so it is read where npm put it,
 * and neither committed nor shipped nor trained on.
 */
import { type Cut, createCut } from '@ostiary/models/drawn-documents/glyphs'
import { readOutlines } from './font.ts'

export const REPORTED_CUT = 'OCRB7'

export function loadReportedCut(): Cut {
  return createCut(REPORTED_CUT, readOutlines(new URL(`../fonts/${REPORTED_CUT}.ttf`, import.meta.resolve('bwip-js'))))
}
