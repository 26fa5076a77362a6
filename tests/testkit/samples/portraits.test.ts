import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePam, toPam } from './portraits.ts'

const HEADER = 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'

test('a picture is read with its size and its bytes', () => {
  const bytes = Buffer.concat([Buffer.from(HEADER), Buffer.of(1, 2, 3, 255, 10, 20, 30, 255)])
  assert.deepEqual(parsePam(bytes), { width: 2, height: 1, data: Uint8ClampedArray.of(1, 2, 3, 255, 10, 20, 30, 255) })
})

test('a picture that is cut short, has other channels or is not a picture is refused', () => {
  const seven = Buffer.concat([Buffer.from(HEADER), Buffer.alloc(7)])
  assert.throws(() => parsePam(seven), /not an RGBA picture/)
  const rgb = Buffer.concat([Buffer.from(HEADER.replace('DEPTH 4', 'DEPTH 3')), Buffer.alloc(8)])
  assert.throws(() => parsePam(rgb), /not an RGBA picture/)
  assert.throws(() => parsePam(Buffer.from('hello')), /not an RGBA picture/)
})

test('a picture that was written is read as it was', () => {
  const picture = { width: 1, height: 2, data: Uint8ClampedArray.of(1, 2, 3, 255, 10, 20, 30, 255) }
  assert.deepEqual(parsePam(toPam(picture)), picture)
})
