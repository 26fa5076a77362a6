import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUCKET_COUNT } from '@ostiary/crypto'
import { bucketOf, createIds, isId } from './ids.ts'
import { createManualClock } from './testing/manual-clock.ts'

test('every id is a UUIDv7 that contains its time and its bucket', () => {
  const clock = createManualClock()
  const ids = createIds(clock)
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    const id = ids.next(bucket)
    assert.ok(isId(id), id)
    assert.equal(bucketOf(id), bucket)
    assert.equal(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16), clock.now().getTime())
  }
})

test('ids of one bucket sort by creation, within a millisecond and when the clock is set back', () => {
  const clock = createManualClock()
  const ids = createIds(clock)
  const made: string[] = []
  for (let i = 0; i < 40_000; i++) {
    made.push(ids.next(7))
    if (i === 20_000) clock.advance(-5_000)
  }
  assert.deepEqual(made, made.toSorted())
  assert.equal(new Set(made).size, made.length)
})

test('two id generators do not collide', () => {
  const clock = createManualClock()
  const [a, b] = [createIds(clock), createIds(clock)]
  const made = new Set<string>()
  for (let i = 0; i < 10_000; i++) made.add(a.next(0)).add(b.next(0))
  assert.equal(made.size, 20_000)
})

test('random buckets are spread evenly', () => {
  const ids = createIds(createManualClock())
  const counts = new Array<number>(BUCKET_COUNT).fill(0)
  for (let i = 0; i < 102_400; i++) counts[ids.randomBucket()] = (counts[ids.randomBucket()] ?? 0) + 1
  assert.ok(
    counts.every((count) => count < 200),
    'no bucket gets twice its share',
  )
})

test('other texts are not ids', () => {
  for (const text of [
    '',
    'x',
    '019f1c2e-7a40-4b3c-8f00-5d2b9c41e6aa',
    '019F1C2E-7A40-7B3C-8F00-5D2B9C41E6AA',
    '019f1c2e-7a40-7b3c-0f00-5d2b9c41e6aa',
    '019f1c2e7a407b3c8f005d2b9c41e6aa',
    '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa\n',
  ]) {
    assert.equal(isId(text), false, JSON.stringify(text))
  }
  assert.throws(() => createIds(createManualClock()).next(BUCKET_COUNT), RangeError)
})
