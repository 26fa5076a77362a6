import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBatcher } from './batcher.ts'

class BadPiece extends Error {}
const isOfOne = (error: unknown) => error instanceof BadPiece
const LIMITS = { mostAtOnce: 4, mostUnderWay: 2, mostWaitMs: 60_000, tooLate: () => new Error('too late') }

/** Work whose calls last until the test ends them. */
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

describe('the batcher', () => {
  test('a single item is passed on at once, alone', async () => {
    const done: (readonly number[])[] = []
    const batch = createBatcher<number, number>(
      async (items) => {
        done.push(items)
        return items
      },
      isOfOne,
      LIMITS,
    )
    await batch(1)
    await batch(2)
    assert.deepEqual(done, [[1], [2]])
  })

  test('items of the same moment share a call up to the limit, and the rest wait for a free call', async () => {
    const { work, calls, begun } = heldWork()
    const batch = createBatcher<number, number>(work, isOfOne, LIMITS)
    const asked = Array.from({ length: 11 }, (_, index) => batch(index))
    assert.deepEqual(await begun(2), [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ])
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    assert.equal(calls.length, 2)
    asked.push(batch(11))
    calls[1]?.end()
    assert.deepEqual((await begun(3))[2], [8, 9, 10, 11])
    calls[0]?.end()
    calls[2]?.end()
    await Promise.all(asked)
  })

  test('no item resolves before its call has ended', async () => {
    const { work, calls, begun } = heldWork()
    const batch = createBatcher<number, number>(work, isOfOne, LIMITS)
    let resolved = 0
    const asked = [1, 2].map((item) => batch(item).then(() => resolved++))
    await begun(1)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    assert.equal(resolved, 0)
    calls[0]?.end()
    await Promise.all(asked)
    assert.equal(resolved, 2)
  })

  test('each item gets its own answer, and a call with too few answers fails', async () => {
    const batch = createBatcher<number, string>(async (items) => items.map((item) => `answer ${item}`), isOfOne, LIMITS)
    assert.deepEqual(
      await Promise.all([5, 3, 9, 1, 7].map(batch)),
      [5, 3, 9, 1, 7].map((item) => `answer ${item}`),
    )
    const short = createBatcher<number, number>(async (items) => items.slice(1), isOfOne, LIMITS)
    await assert.rejects(short(1), /0 answers for 1 items/)
  })

  test('the item that causes a failure fails alone, and the others succeed', async () => {
    const done: number[] = []
    const batch = createBatcher<number, number>(
      async (items) => {
        if (items.includes(2)) throw new BadPiece()
        done.push(...items)
        return items
      },
      isOfOne,
      LIMITS,
    )
    const ends = await Promise.allSettled([1, 2, 3].map(batch))
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(done, [1, 3])
  })

  test('items behind a call that hangs are refused in time, and a later item gets a call', async () => {
    const { work, calls, begun } = heldWork()
    const batch = createBatcher<number, number>(work, isOfOne, {
      ...LIMITS,
      mostAtOnce: 1,
      mostUnderWay: 1,
      mostWaitMs: 1_000,
    })
    const hanging = batch(0)
    const early = [1, 2, 3].map((item) => assert.rejects(batch(item), /too late/))
    await begun(1)
    // The time itself is what is tested: long enough that a busy machine does not make the last item late.
    await sleep(1_050)
    const last = batch(4)
    calls[0]?.end(new Error('it hung'))
    await assert.rejects(hanging, /it hung/)
    await Promise.all(early)
    assert.deepEqual(await begun(2), [[0], [4]])
    calls[1]?.end()
    await last
  })

  test('an error that no single item causes rejects every item, and nothing is repeated', async () => {
    let calls = 0
    const batch = createBatcher<number, number>(
      async () => {
        calls++
        throw new Error('gone')
      },
      isOfOne,
      LIMITS,
    )
    const ends = await Promise.allSettled([1, 2, 3].map(batch))
    assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.message === 'gone'))
    assert.equal(calls, 1)
    await assert.rejects(batch(4), /gone/)
    assert.equal(calls, 2)
  })
})
