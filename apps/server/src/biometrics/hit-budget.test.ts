import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HIT_BUDGET } from '@ostiary/contract'
import { seededRandom } from '@ostiary/device/simulated'
import { bandOf, oldestSlot, reportScores, slotOf, verdictOf } from './hit-budget.ts'

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

/** Asks at these times. Returns those that were answered. A refusal is counted too. */
function answersOf(times: readonly number[], before: ReadonlyMap<number, number> = new Map()): number[] {
  const taken = new Map(before)
  return times.filter((at) => {
    taken.set(slotOf(at), (taken.get(slotOf(at)) ?? 0) + 1)
    return verdictOf(taken, at).level !== 'refuse'
  })
}
const mostWithin = (lengthMs: number, times: readonly number[]) => {
  let [most, first] = [0, 0]
  for (const [last, at] of times.entries()) {
    while ((times[first] ?? at) <= at - lengthMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

test('45 at once, then one every 80 seconds: the key waits exactly for the next token', () => {
  const times = Array.from({ length: 45 }, () => NOON)
  assert.equal(answersOf([...times, NOON]).length, 45)
  const spent = new Map([[slotOf(NOON), 45]])
  assert.deepEqual(verdictOf(spent, NOON), { level: 'open', waitMs: 80_000 })
  assert.equal(answersOf([NOON + 79_999], spent).length, 0)
  assert.equal(answersOf([NOON + 80_000], spent).length, 1)
  assert.equal(verdictOf(new Map([[slotOf(NOON), 44]]), NOON).waitMs, 0)
})

test('of a day 165 at once and one every 524 seconds, where the hour has its tokens', () => {
  const spread = new Map(Array.from({ length: 165 }, (_, n) => [slotOf(NOON - (165 - n) * 80_000), 1] as const))
  const { level, waitMs } = verdictOf(spread, NOON)
  assert.deepEqual([level, waitMs], ['open', 0], 'some have come back meanwhile')
  const later = answersOf(
    Array.from({ length: 200 }, (_, n) => NOON + n * 80_000),
    spread,
  )
  assert.ok(later.length < 60, String(later.length))
  const all = new Map([...spread, ...later.map((at) => [slotOf(at), 1] as const)])
  const { waitMs: wait } = verdictOf(all, later.at(-1) ?? 0)
  assert.ok(wait > 80_000 && wait <= 86_400_000 / 165 + 1, String(wait))
})

test('there are never more than 90 answers in an hour and 330 in a day, however they are asked', () => {
  const random = seededRandom(11)
  for (let round = 0; round < 6; round++) {
    const times: number[] = []
    // Bursts, steady asking, and pauses of up to three hours, over more than a day.
    for (let at = NOON + random() * HOUR_MS; at < NOON + 30 * HOUR_MS; ) {
      const [kind, pace] = [random(), random() * 120_000]
      for (let n = 0; n < 60; n++, at += kind < 0.4 ? 0 : pace) times.push(at)
      if (kind > 0.6) at += random() * 3 * HOUR_MS
    }
    // Half of the attackers wait as they are told, the others never do.
    let waitUntil = 0
    const taken = new Map<number, number>()
    const answered = times.filter((at) => {
      if (round % 2 === 0 && at < waitUntil) return false
      for (const slot of taken.keys()) if (slot < at - 25 * HOUR_MS) taken.delete(slot)
      taken.set(slotOf(at), (taken.get(slotOf(at)) ?? 0) + 1)
      const { level, waitMs } = verdictOf(taken, at)
      waitUntil = at + waitMs
      return level !== 'refuse'
    })
    assert.ok(mostWithin(HOUR_MS, answered) <= HIT_BUDGET.hour.most, `round ${round}`)
    assert.ok(mostWithin(24 * HOUR_MS, answered) <= HIT_BUDGET.day.most, `round ${round}`)
  }
})

test('hits of the last release count as if they were at the end of their ten minutes, and never let more through', () => {
  assert.equal(verdictOf(slots([0, 90]), NOON).level, 'refuse')
  assert.equal(verdictOf(slots([10, 46]), NOON).level, 'refuse')
  // 60 there within the hour before: at most 30 more within an hour of the first.
  const [before, start] = [slots([0, 60]), NOON + 599_000]
  const times = Array.from({ length: 300 }, (_, n) => start + n * 10_000)
  const within = answersOf(times, before).filter((at) => at < NOON + HOUR_MS)
  assert.ok(within.length + 60 <= HIT_BUDGET.hour.most, String(within.length))
  assert.notEqual(slotOf(NOON) % 600_000, 0, 'a row of its own beside one of the last release')
})

test('the alarm is raised with the 60th hit of an hour and the 300th of a day, as before', () => {
  const spread = (count: number, everyMinutes: number) =>
    slots(...Array.from({ length: count }, (_, n) => [n * everyMinutes + 0.5, 1] as const))
  assert.deepEqual(
    [59, 60].map((count) => verdictOf(spread(count, 1), NOON).level),
    ['open', 'alarm'],
  )
  assert.deepEqual(
    [299, 300].map((count) => verdictOf(spread(count, 4.75), NOON).level),
    ['open', 'alarm'],
  )
  assert.equal(oldestSlot(NOON + 1), NOON - 24 * HOUR_MS)
})
