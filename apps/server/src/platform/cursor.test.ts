import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCursor, readIdCursor, writeCursor } from './cursor.ts'

test('the parts of a cursor are read as they were written', () => {
  const cursor = writeCursor(1_700_000_000_000, 'some-id')
  assert.match(cursor, /^[\w-]+$/)
  assert.deepEqual(
    readCursor(cursor, (parts) => parts),
    ['1700000000000', 'some-id'],
  )
})

test('a cursor that cannot be parsed is refused with its place in the request', () => {
  for (const cursor of ['', '%', writeCursor('other')]) {
    assert.throws(() => readCursor(cursor, ([only]) => (only === 'mine' ? only : undefined)), {
      code: 'VALIDATION_FAILED',
      message: 'The request is not valid: /query/cursor is not a cursor from an earlier page',
    })
  }
})

test('a cursor of an id must hold the id and nothing else', () => {
  const isId = (text: string) => text === 'id-1'
  assert.equal(readIdCursor(writeCursor('id-1'), isId), 'id-1')
  assert.throws(() => readIdCursor(writeCursor('id-1', 'more'), isId), { code: 'VALIDATION_FAILED' })
})
