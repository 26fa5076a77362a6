import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMessage, varint } from './protobuf.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('numbers take seven bits to a byte, and a negative one takes ten bytes', () => {
  assert.equal(hex(varint(0)), '00')
  assert.equal(hex(varint(127)), '7f')
  assert.equal(hex(varint(150)), '9601')
  assert.equal(hex(varint(2 ** 40)), '808080808020')
  assert.equal(hex(varint(-1)), 'ffffffffffffffffff01')
})

test('fields are written with their number and kind, messages inside with their length', () => {
  const inner = createMessage().int(1, 150)
  assert.equal(hex(inner.finish()), '089601')
  assert.equal(hex(createMessage().text(2, 'testing').finish()), '120774657374696e67')
  assert.equal(hex(createMessage().message(3, inner).finish()), '1a03089601')
  assert.equal(hex(createMessage().int(20, 7).finish()), 'a00107')
})
