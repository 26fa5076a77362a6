import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiKeyHint, BUCKET_COUNT, formatApiKey, parseApiKey } from './api-key.ts'

const random = Uint8Array.from({ length: 32 }, (_, i) => i * 7)

test('a key carries its mode and its bucket, for every bucket', () => {
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    for (const livemode of [true, false]) {
      assert.deepEqual(parseApiKey(formatApiKey({ livemode, bucket }, random)), { livemode, bucket })
    }
  }
})

test('the format is stable: the same input always gives the same key', () => {
  assert.equal(
    formatApiKey({ livemode: false, bucket: 234 }, random),
    'ost_test_7a003gw58w4cn32e1z8s6n8pv2d5r7ezm5hj9sn8d8nyvbvh6btbcga8k8bw',
  )
})

test('a key with one changed, missing or added character is not a key', () => {
  const key = formatApiKey({ livemode: true, bucket: 1023 }, random)
  for (let i = 0; i < key.length; i++) {
    const other = key.charAt(i) === 'q' ? 'r' : 'q'
    assert.equal(parseApiKey(key.slice(0, i) + other + key.slice(i + 1)), undefined, `changed at ${i}`)
    assert.equal(parseApiKey(key.slice(0, i) + key.slice(i + 1)), undefined, `cut at ${i}`)
  }
  assert.equal(parseApiKey(`${key}0`), undefined)
  assert.equal(parseApiKey(` ${key}`), undefined)
  assert.equal(parseApiKey(''), undefined)
})

test('different random bytes give different keys of one length', () => {
  const keys = new Set<string>()
  for (let i = 0; i < 256; i++)
    keys.add(
      formatApiKey(
        { livemode: true, bucket: 7 },
        random.map((b) => b ^ i),
      ),
    )
  assert.equal(keys.size, 256)
  assert.deepEqual(new Set([...keys].map((key) => key.length)), new Set([69]))
})

test('a wrong bucket or too few random bytes is refused', () => {
  assert.throws(() => formatApiKey({ livemode: true, bucket: 1024 }, random), RangeError)
  assert.throws(() => formatApiKey({ livemode: true, bucket: 0 }, random.subarray(1)), RangeError)
})

test('the hint at a key shows mode, bucket and the last four characters', () => {
  const key = formatApiKey({ livemode: false, bucket: 33 }, new Uint8Array(32).fill(7))
  assert.equal(apiKeyHint(key), `ost_test_11...${key.slice(-4)}`)
})
