import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGatherer } from './gather.ts'

class BadPiece extends Error {}
const isOfOne = (error: unknown) => error instanceof BadPiece
const LIMITS = { mostAtOnce: 4, mostUnderWay: 2, mostWaitMs: 60_000, tooLate: () => new Error('too late') }

/** Work that lasts until the test ends it. */
function heldWork() {
  const calls: { items: readonly number[]; end(error?: Error): void }[] = []
  const work = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      calls.push({ items, end: (error) => (error ? reject(error) : resolve(items)) })
    })
  const begun = async (count: number) => {
    while (calls.length < count) await new Promise(setImmediate)
    return calls.map(({ items }) => items)
  }
  return { work, calls, begun }
}

describe('gathering', () => {
  test('what is asked for alone is done at once, alone', async () => {
    const done: (readonly number[])[] = []
    const gather = createGatherer<number, number>(
      async (items) => {
        done.push(items)
        return items
      },
      isOfOne,
      LIMITS,
    )
    await gather(1)
    await gather(2)
    assert.deepEqual(done, [[1], [2]])
  })

  test('what is asked for at the same time goes together, as many as may; the rest waits for a free place', async () => {
    const { work, calls, begun } = heldWork()
    const gather = createGatherer<number, number>(work, isOfOne, LIMITS)
    const asked = Array.from({ length: 11 }, (_, index) => gather(index))
    assert.deepEqual(await begun(2), [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ])
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    assert.equal(calls.length, 2)
    asked.push(gather(11))
    calls[1]?.end()
    assert.deepEqual((await begun(3))[2], [8, 9, 10, 11])
    calls[0]?.end()
    calls[2]?.end()
    await Promise.all(asked)
  })

  test('nobody is told that it is done before it is', async () => {
    const { work, calls, begun } = heldWork()
    const gather = createGatherer<number, number>(work, isOfOne, LIMITS)
    let told = 0
    const asked = [1, 2].map((item) => gather(item).then(() => told++))
    await begun(1)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    assert.equal(told, 0)
    calls[0]?.end()
    await Promise.all(asked)
    assert.equal(told, 2)
  })

  test('each gets its own answer, and none where the answers are not as many as the questions', async () => {
    const gather = createGatherer<number, string>(
      async (items) => items.map((item) => `answer ${item}`),
      isOfOne,
      LIMITS,
    )
    assert.deepEqual(
      await Promise.all([5, 3, 9, 1, 7].map(gather)),
      [5, 3, 9, 1, 7].map((item) => `answer ${item}`),
    )
    const short = createGatherer<number, number>(async (items) => items.slice(1), isOfOne, LIMITS)
    await assert.rejects(short(1), /0 answers for 1 items/)
  })

  test('a piece that is to blame fails alone; the others are done without it', async () => {
    const done: number[] = []
    const gather = createGatherer<number, number>(
      async (items) => {
        if (items.includes(2)) throw new BadPiece()
        done.push(...items)
        return items
      },
      isOfOne,
      LIMITS,
    )
    const ends = await Promise.allSettled([1, 2, 3].map(gather))
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(done, [1, 3])
  })

  test('behind calls that hang nobody waits for ever, and who came later gets a place', async () => {
    const { work, calls, begun } = heldWork()
    const gather = createGatherer<number, number>(work, isOfOne, {
      ...LIMITS,
      mostAtOnce: 1,
      mostUnderWay: 1,
      mostWaitMs: 200,
    })
    const hanging = gather(0)
    const early = [1, 2, 3].map((item) => assert.rejects(gather(item), /too late/))
    await begun(1)
    await sleep(250)
    const last = gather(4)
    calls[0]?.end(new Error('it hung'))
    await assert.rejects(hanging, /it hung/)
    await Promise.all(early)
    assert.deepEqual(await begun(2), [[0], [4]])
    calls[1]?.end()
    await last
  })

  test('an error that is nobody’s fault is everybody’s, and nothing is repeated', async () => {
    let calls = 0
    const gather = createGatherer<number, number>(
      async () => {
        calls++
        throw new Error('gone')
      },
      isOfOne,
      LIMITS,
    )
    const ends = await Promise.allSettled([1, 2, 3].map(gather))
    assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.message === 'gone'))
    assert.equal(calls, 1)
    await assert.rejects(gather(4), /gone/)
    assert.equal(calls, 2)
  })
})
