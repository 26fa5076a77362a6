import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MOVEMENTS } from '@ostiary/contract'
import { createChallenge } from './challenge.ts'
import { bytesOf, seeded } from './testing/person.ts'

const many = (count: number) => {
  const random = bytesOf(seeded(7))
  return Array.from({ length: count }, () => createChallenge(random))
}
const countIn = (times: readonly number[], from: number, to: number) =>
  times.filter((time) => time >= from && time <= to).length

describe('a challenge', () => {
  const challenges = many(1000)

  test('asks for three movements, never one twice in a row, 2.4 to 3.1 seconds apart', () => {
    for (const { steps } of challenges) {
      assert.equal(steps.length, 3)
      const [first, ...rest] = steps
      assert.ok(first && first.atMs >= 800 && first.atMs <= 1500)
      rest.forEach(({ movement, atMs }, index) => {
        const before = steps[index]
        assert.ok(before && movement !== before.movement)
        assert.ok(atMs - before.atMs >= 2400 && atMs - before.atMs <= 3100)
      })
    }
  })

  test('samples 17 to 19 times, at least 120 ms apart, until 2.2 seconds after the last step', () => {
    for (const { steps, sampleAtMs } of challenges) {
      assert.ok(sampleAtMs.length >= 17 && sampleAtMs.length <= 19)
      assert.ok((sampleAtMs[0] ?? 0) >= 100)
      sampleAtMs.slice(1).forEach((time, index) => {
        assert.ok(time - (sampleAtMs[index] ?? 0) >= 120, sampleAtMs.join())
      })
      assert.ok((sampleAtMs.at(-1) ?? 0) <= (steps.at(-1)?.atMs ?? 0) + 2200)
    }
    assert.deepEqual([...new Set(challenges.map(({ sampleAtMs }) => sampleAtMs.length))].sort(), [17, 18, 19])
  })

  test('samples every movement, and the face at rest before the first one', () => {
    for (const { steps, sampleAtMs } of challenges) {
      assert.ok(countIn(sampleAtMs, 0, (steps[0]?.atMs ?? 0) - 1) >= 2)
      for (const { atMs } of steps) assert.ok(countIn(sampleAtMs, atMs + 300, atMs + 2200) >= 5)
    }
  })

  test('leaves no gap in which a movement of half a second could hide, however late it begins', () => {
    for (const { steps, sampleAtMs } of challenges) {
      for (const { atMs } of steps) {
        for (let onset = 250; onset <= 1350; onset += 50) {
          // Frames come up to 40 ms after their time.
          assert.ok(countIn(sampleAtMs, atMs + onset, atMs + onset + 460) >= 1, `${atMs + onset} ${sampleAtMs}`)
        }
      }
    }
  })
})

test('no movement, pair of movements or time is likelier than another', () => {
  const challenges = many(20_000)
  const share = (of: (challenge: (typeof challenges)[number]) => string) => {
    const counts = new Map<string, number>()
    for (const challenge of challenges) counts.set(of(challenge), (counts.get(of(challenge)) ?? 0) + 1)
    return counts
  }
  const firsts = share(({ steps }) => steps[0]?.movement ?? '')
  assert.deepEqual([...firsts.keys()].sort(), [...MOVEMENTS].sort())
  // Five standard deviations of a count of 4,000 (56.6), of 1,000 (30.8) and of 2,857 (49.5).
  for (const count of firsts.values()) assert.ok(Math.abs(count - 4000) < 283, String(count))
  const pairs = share(({ steps }) => `${steps[1]?.movement} ${steps[2]?.movement}`)
  assert.equal(pairs.size, 20)
  for (const count of pairs.values()) assert.ok(Math.abs(count - 1000) < 155, String(count))
  // 700 of the 701 possible times of the first step, in seven groups of a hundred.
  const times = share(({ steps }) => String(Math.floor(((steps[0]?.atMs ?? 0) - 800) / 100)))
  for (const [at, count] of times) if (at !== '7') assert.ok(Math.abs(count - 2853) < 250, `${at}: ${count}`)
})

test('a value of the last, incomplete range is drawn again', () => {
  const thrown = (first: number) => {
    let calls = 0
    const challenge = createChallenge((count) => new Uint8Array(count).fill(calls++ === 0 ? first : 0))
    return { calls, challenge }
  }
  const zeros = thrown(0)
  // The 65,536 values of two bytes are whole ranges of five, except for the last value, 65,535.
  assert.deepEqual(thrown(255), { calls: zeros.calls + 1, challenge: zeros.challenge })
})

describe('a pinned challenge of a test session', () => {
  const movements = ['closer', 'blink', 'turn_right'] as const

  test('asks for the given movements at random times', () => {
    const random = bytesOf(seeded(11))
    const pinned = Array.from({ length: 50 }, () => createChallenge(random, { movements, fixedTimes: false }))
    for (const { steps } of pinned)
      assert.deepEqual(
        steps.map(({ movement }) => movement),
        [...movements],
      )
    assert.ok(new Set(pinned.map(({ steps }) => steps[0]?.atMs)).size > 20)
    assert.ok(new Set(pinned.map(({ sampleAtMs }) => sampleAtMs.join())).size === 50)
  })

  test('with fixed times always has the times in the middle of their ranges', () => {
    const [first, second] = [3, 4].map((seed) =>
      createChallenge(bytesOf(seeded(seed)), { movements, fixedTimes: true }),
    )
    assert.deepEqual(first, second)
    assert.deepEqual(first, {
      steps: [
        { movement: 'closer', atMs: 1150 },
        { movement: 'blink', atMs: 3900 },
        { movement: 'turn_right', atMs: 6650 },
      ],
      sampleAtMs: [
        ...[302, 887],
        ...[1495, 1910, 2325, 2740, 3155],
        ...[4245, 4660, 5075, 5490, 5905],
        ...[6995, 7410, 7825, 8240, 8655],
      ],
    })
  })
})
