import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCuts, TRAINED_CUTS } from '@ostiary/models/drawn-documents/glyphs'
import { TRAINED_RANGE, TRAINING_SEED } from '@ostiary/models/mrz/harvest'
import { loadReportedCut, REPORTED_CUT } from './reported-cut.ts'
import { BEYOND_TRAINED, REPORTED_SEED, TUNING_SEED } from './trial.ts'

test('no cut that was trained on is reported', () => {
  assert.ok(!(TRAINED_CUTS as readonly string[]).includes(REPORTED_CUT))
  const reported = loadReportedCut()
  assert.equal(reported.name, REPORTED_CUT)
  for (const trained of loadCuts()) {
    const differences = trained.fields.map((field, index) => meanDifference(field, reported.fields[index]))
    assert.ok(Math.min(...differences) > 0.003, `a glyph of ${trained.name} is one of ${REPORTED_CUT}`)
  }
})

test('documents that are reported, tuned on and trained on have seeds far apart', () => {
  const seeds = [TRAINING_SEED, TUNING_SEED, REPORTED_SEED].toSorted((a, b) => a - b)
  for (const [index, seed] of seeds.slice(1).entries()) assert.ok(seed - (seeds[index] ?? 0) >= 1_000_000)
})

test('the prints beyond the trained range lie wholly outside it', () => {
  for (const { width } of BEYOND_TRAINED) {
    const [least, most] = TRAINED_RANGE.width
    assert.ok(width[0] > most || width[1] < least)
  }
})

function meanDifference(a: Float32Array, b: Float32Array | undefined): number {
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b?.[index] ?? 0)), 0) / a.length
}
