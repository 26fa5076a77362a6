import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { CHAIN_START, chainEvent, eventText } from './event-chain.ts'

test('the text of an entry is stable: the same entry always has the same hash', () => {
  assert.equal(eventText(CHAIN_START, { seq: 1, t: 0, type: 'page_open' }), `v1\n${'A'.repeat(43)}\n1\n0\npage_open\n`)
  assert.equal(
    eventText('hash-before', { seq: 12, t: 345, type: 'movement_seen', n: -2 }),
    'v1\nhash-before\n12\n345\nmovement_seen\n-2',
  )
})

test('a chain has known hashes, and any SHA-256 makes the same', async () => {
  const first = await chainEvent(CHAIN_START, { seq: 1, t: 0, type: 'page_open' })
  const second = await chainEvent(first.hash, { seq: 2, t: 250, type: 'retake', n: 2 })
  assert.deepEqual(
    [first, second],
    [
      { seq: 1, t: 0, type: 'page_open', hash: 'dLcAk0IzGeMV_Dj1Zqw65e51byu-_BpNnUGc1ED4zBc' },
      { seq: 2, t: 250, type: 'retake', n: 2, hash: 'G9u6_hMEZRSpCSR4sSgGKn_liZmRcZ8z95kppSWmdWw' },
    ],
  )
  const text = `v1\n${first.hash}\n2\n250\nretake\n2`
  assert.equal(createHash('sha256').update(text).digest('base64url'), second.hash)
})

test('a change of any part of an entry, or of the hash before it, changes its hash', async () => {
  const event = { seq: 11, t: 11, type: 'retake', n: 1 }
  const hashes = await Promise.all([
    chainEvent(CHAIN_START, event),
    chainEvent(`B${CHAIN_START.slice(1)}`, event),
    chainEvent(CHAIN_START, { ...event, seq: 1 }),
    chainEvent(CHAIN_START, { ...event, t: 111 }),
    chainEvent(CHAIN_START, { ...event, type: 'submit' }),
    chainEvent(CHAIN_START, { ...event, n: 0 }),
    chainEvent(CHAIN_START, { seq: 11, t: 11, type: 'retake' }),
  ])
  assert.equal(new Set(hashes.map(({ hash }) => hash)).size, hashes.length)
})
