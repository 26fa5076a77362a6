import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { IndicatorPath } from '@ostiary/contract'
import type { BrowserName } from './browsers.ts'
import { markOf, type Patch } from './marks.ts'

const WORDS = { '1': 'suspicious', '0': 'not suspicious', '-': 'not evaluated' } as const

export type SignalCase = readonly [
  what: string,
  browser: BrowserName,
  mark: keyof typeof WORDS,
  patch?: Patch | undefined,
  camera?: { label: string } | null,
]

/** One test per case of one indicator. */
export function signalTable(path: IndicatorPath, cases: readonly SignalCase[]): void {
  describe(path, () => {
    for (const [what, browser, mark, patch, camera] of cases) {
      test(`${what}: ${WORDS[mark]}`, async () => {
        const options = { ...(patch && { patch }), ...(camera !== undefined && { camera }) }
        assert.equal(await markOf(path, browser, options), mark)
      })
    }
  })
}
