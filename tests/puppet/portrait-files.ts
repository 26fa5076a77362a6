import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BASELINE_PORTRAIT } from '@ostiary/testkit/samples/portraits'

/** A face that nobody has, for pictures that may be committed. */
export const FIGURE = fileURLToPath(new URL('figure.svg', import.meta.url))

/** The same picture as the baseline portrait, where Debian's package python3-skimage puts it. */
const DEBIAN_PORTRAIT = '/usr/lib/python3/dist-packages/skimage/data/astronaut.png'

/** The file of a portrait: `figure`, `baseline`, or the path of any other. */
export function findPortrait(name: string): string {
  if (name === 'figure') return FIGURE
  if (name !== 'baseline') return name
  const file = [BASELINE_PORTRAIT, DEBIAN_PORTRAIT].find((path) => existsSync(path))
  if (!file) throw new Error('The baseline portrait is not here: set OSTIARY_DATA, or install python3-skimage')
  return file
}
