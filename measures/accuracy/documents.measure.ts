/**
 * Identity documents: how often the machine-readable zone is read, and how often wrongly; a face against the portrait; hints that a picture is no
 * real document. One file per section under documents/.
 * Everything is drawn: **no real print was seen**. --full takes about an hour; --documents N draws N of each format at each of
 * levels 1 to 3, and three tenths of that at levels 4 to 6.
 */
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { measureHints } from './documents/hints.ts'
import { measurePortraits } from './documents/portraits.ts'
import { measureReading } from './documents/reading.ts'

const SECTIONS: readonly Measure[] = [measureReading, measurePortraits, measureHints]

export const measure: Measure = async (options) => {
  const figures = []
  for (const section of SECTIONS) figures.push(...(await section(options)))
  return figures
}
