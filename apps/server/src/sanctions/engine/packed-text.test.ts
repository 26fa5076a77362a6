import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { joinPacked, packText, unpackTexts } from './packed-text.ts'

test('packed texts unpack to the joined texts, whatever their length', async () => {
  const texts = ['', '{"a":1}', '', 'é😀'.repeat(50_000), 'x', JSON.stringify({ long: 'y'.repeat(200_000) }), '']
  assert.equal(await text(unpackTexts(texts.map(packText))), texts.join(''))
  assert.equal(await text(unpackTexts(joinPacked(texts.map(packText)))), texts.filter((each) => each !== '').join(','))
  assert.equal(await text(unpackTexts([])), '')
})

test('an answer waits in a fraction of its size', () => {
  const rows = Array.from({ length: 250 }, (_, n) => JSON.stringify({ id: `${n}`, firstname: 'ab', match: 'false' }))
  const packed = packText(rows.join(','))
  assert.ok(packed.length * 10 < rows.join(',').length, `${packed.length} bytes`)
  assert.equal(packed.buffer.byteLength, packed.length, 'a message between threads carries the whole buffer')
})

test('a reader that leaves stops the source', async () => {
  let taken = 0
  function* endless() {
    for (;;) {
      taken++
      yield packText('x'.repeat(100_000))
    }
  }
  const reading = unpackTexts(endless())
  await once(reading, 'data')
  reading.destroy()
  await once(reading, 'close')
  const [atEnd] = [taken]
  await new Promise(setImmediate)
  assert.ok(taken - atEnd <= 1 && taken < 1_000, `${taken} taken`)
})
