/**
 * Identity documents: how often the machine-readable zone is read, and how often wrongly; a face against the portrait; hints that a picture is no
 * real document. One file per section under documents/.
 * Everything is drawn: **no real print was seen**. --full takes about an hour; --documents N draws N of each format at each of
 * levels 1 to 3, and three tenths of that at levels 4 to 6. --section reading, portraits or hints measures only that.
 */
import { parseArgs } from 'node:util'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { measureHints } from './documents/hints.ts'
import { measurePortraits } from './documents/portraits.ts'
import { measureReading } from './documents/reading.ts'

const SECTIONS: Readonly<Record<string, Measure>> = {
  reading: measureReading,
  portraits: measurePortraits,
  hints: measureHints,
}

export const measure: Measure = async (options) => {
  const figures = []
  const { values } = parseArgs({ args: process.argv.slice(4), options: { section: { type: 'string' } }, strict: false })
  if (values.section !== undefined && !(String(values.section) in SECTIONS))
    throw new Error(`--section is one of ${Object.keys(SECTIONS).join(', ')}`)
  for (const [name, section] of Object.entries(SECTIONS))
    if (values.section === undefined || values.section === name) figures.push(...(await section(options)))
  return figures
}
