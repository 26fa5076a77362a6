import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnnouncer } from './announcer.ts'

test('the first text is announced at once, the next one after a second and a half', () => {
  const announcer = createAnnouncer()
  assert.deepEqual(announcer.next('Come closer', 0), { text: 'Come closer', waitMs: null })
  assert.deepEqual(announcer.next('Hold still', 400), { text: null, waitMs: 1100 })
  assert.deepEqual(announcer.next('Hold still', 1500), { text: 'Hold still', waitMs: null })
})

test('if texts change quickly, only the latest is announced', () => {
  const announcer = createAnnouncer()
  announcer.next('Come closer', 0)
  announcer.next('Move left', 200)
  assert.deepEqual(announcer.next('Hold still', 1600), { text: 'Hold still', waitMs: null })
})

test('the same text is not repeated, and an empty text is not announced', () => {
  const announcer = createAnnouncer()
  announcer.next('Come closer', 0)
  assert.deepEqual(announcer.next('Come closer', 9000), { text: null, waitMs: null })
  assert.deepEqual(announcer.next('', 9000), { text: null, waitMs: null })
})
