import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HIT_BUDGET } from '@ostiary/contract'
import { bandOf, levelOf, oldestSlot, reportScores } from './hit-budget.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const NOON = Date.parse('2026-11-15T12:00:00.000Z')
const slots = (...counts: readonly (readonly [minutesAgo: number, hits: number])[]) =>
  new Map(counts.map(([ago, hits]) => [NOON - ago * MINUTE_MS, hits]))

test('a score is reported as the lower edge of its band', () => {
  const reported = [0.5, 0.7, 0.8999, 0.9, 0.9899, 0.99, 1].map(bandOf)
  assert.deepEqual(reported, [0.5, 0.5, 0.5, 0.9, 0.9, 0.99, 0.99])
})

test('within a band people are ordered by id, exact scores stay as they are, one band is the lowest for everybody', () => {
  const found = [
    { puid: 'c', score: 0.9989 },
    { puid: 'b', score: 0.97 },
    { puid: 'd', score: 0.95 },
    { puid: 'a', score: 0.91 },
  ]
  const rows = (reported: typeof found) => reported.map(({ puid, score }) => `${puid} ${score}`)
  assert.deepEqual(rows(reportScores(found, 'bands')), ['c 0.99', 'a 0.9', 'b 0.9', 'd 0.9'])
  assert.deepEqual(reportScores(found, 'exact'), found)
  assert.deepEqual(rows(reportScores(found, 'one_band')), ['a 0.5', 'b 0.5', 'c 0.5', 'd 0.5'])
})

test('the hour raises the alarm with the 60th hit and refuses after 90', () => {
  const { alarm, refuse } = HIT_BUDGET.hour
  const levels = [alarm - 1, alarm, refuse, refuse + 1].map((hits) => levelOf(slots([0, hits]), NOON))
  assert.deepEqual(levels, ['open', 'alarm', 'alarm', 'refuse'])
  assert.equal(levelOf(slots([0, 31], [30, 30], [60, 30]), NOON), 'refuse', 'all of the last 60 minutes')
})

test('nothing is forgotten before 60 minutes have passed, and all of it ten minutes later', () => {
  // Asked at any moment of these ten minutes, the last one for example.
  const spent = slots([0, 91])
  const after = (minutes: number) => levelOf(spent, NOON + minutes * MINUTE_MS)
  assert.deepEqual([after(0), after(59), after(69), after(70)], ['refuse', 'refuse', 'refuse', 'open'])
})

test('the day raises the alarm with the 300th hit and refuses after 330, over 24 hours', () => {
  const spread = (each: number) => slots(...Array.from({ length: 10 }, (_, n) => [n * 60 + 120, each] as const))
  assert.deepEqual(
    [29, 30, 33, 34].map((each) => levelOf(spread(each), NOON)),
    ['open', 'alarm', 'alarm', 'refuse'],
  )
  const dayAgo = slots([24 * 60, 400])
  assert.deepEqual(
    [levelOf(dayAgo, NOON + 10 * MINUTE_MS - 1), levelOf(dayAgo, NOON + 10 * MINUTE_MS)],
    ['refuse', 'open'],
  )
  assert.equal(oldestSlot(NOON + 1), NOON - 24 * HOUR_MS)
})
