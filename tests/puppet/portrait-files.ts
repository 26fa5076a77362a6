import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BASELINE_PORTRAIT } from '@ostiary/testkit/samples/portraits'

/** A face that nobody has, for pictures that may be committed. */
export const FIGURE = fileURLToPath(new URL('figure.svg', import.meta.url))

/** The file of a portrait: `figure`, `baseline`, or the path of any other. */
export function findPortrait(name: string): string {
  if (name === 'figure') return FIGURE
  if (name !== 'baseline') return name
  if (!existsSync(BASELINE_PORTRAIT))
    throw new Error('The baseline portrait is not here: run tools/bootstrap, or set OSTIARY_DATA')
  return BASELINE_PORTRAIT
}
