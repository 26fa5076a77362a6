import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JOINED, readAddress } from './address.ts'

const id = '0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b'

test('session and handoff code are read, and the code is not in the clean address', () => {
  const read = readAddress(`https://id.example/launch/?sessionId=${id}&as=popup#h=abc-DEF_1`)
  assert.deepEqual(read, {
    sessionId: id,
    handoffCode: 'abc-DEF_1',
    joined: true,
    clean: `https://id.example/launch/?sessionId=${id}&as=popup`,
  })
})

test('a link without a code has none', () => {
  assert.equal(readAddress(`https://id.example/launch/?sessionId=${id}`).handoffCode, null)
  assert.equal(readAddress(`https://id.example/launch/?sessionId=${id}#h=`).handoffCode, null)
  assert.equal(readAddress(`https://id.example/launch/?sessionId=${id}#top`).handoffCode, null)
})

test('a value that cannot be a session id is ignored', () => {
  for (const query of ['', '?sessionId=', '?sessionId=short', `?sessionId=${id}x`])
    assert.equal(readAddress(`https://id.example/launch/${query}`).sessionId, null)
})

test('a tab that joined with a code is still known as joined after a reload', () => {
  const link = `https://id.example/launch/?sessionId=${id}`
  assert.deepEqual(
    [null, JOINED, 'other'].map((state) => readAddress(link, state).joined),
    [false, true, false],
  )
})
