import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readFigures } from './gate-figures.ts'
import { figureAtMost } from './test-figure.ts'

const before = process.env.OSTIARY_FIGURES
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ostiary-figures-'))
})
afterEach(() => {
  if (before === undefined) delete process.env.OSTIARY_FIGURES
  else process.env.OSTIARY_FIGURES = before
  rmSync(folder, { recursive: true })
})

test('by hand a bound that is exceeded fails the test', async () => {
  delete process.env.OSTIARY_FIGURES
  await figureAtMost('close-ms', 100, 100)
  await assert.rejects(figureAtMost('close-ms', 100, 101), /close-ms: 101, at most 100/)
})

test('in the gate it is recorded, and measured again only where it is more than twice as large', async () => {
  const file = join(folder, 'figures.ndjson')
  process.env.OSTIARY_FIGURES = file
  const values = [201, 150, 199]
  const next = () => values.shift() ?? Number.NaN
  await figureAtMost('close-ms', 100, next)
  await figureAtMost('close-ms', 100, next)
  await figureAtMost('once-ms', 100, 1_000)
  const figure = { name: 'test.close-ms', floor: 100, is: 'most', load: true }
  assert.deepEqual(readFigures(file), [
    { ...figure, value: 201 },
    { ...figure, value: 150 },
    { ...figure, value: 199 },
    { ...figure, name: 'test.once-ms', value: 1_000 },
  ])
})
