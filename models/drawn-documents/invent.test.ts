import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digitChecks, findDocumentKind, fitsLayout, MRZ_FORMATS } from '@ostiary/documents'
import { inventDocument } from './invent.ts'
import { createRandom } from './random.ts'

for (const format of MRZ_FORMATS)
  test(`invented documents of ${format} keep its layout, its check digits and its lists`, () => {
    const random = createRandom(4_100_000)
    for (let count = 0; count < 200; count++) {
      const { lines } = inventDocument(format, random)
      const text = lines.join('\n')
      assert.ok(fitsLayout(format, lines), text)
      assert.deepEqual(
        digitChecks(format, lines).filter(({ holds }) => !holds),
        [],
        text,
      )
      assert.ok(findDocumentKind(format, lines), text)
    }
  })

test('the same seed invents the same document', () => {
  assert.deepEqual(inventDocument('TD1', createRandom(9)), inventDocument('TD1', createRandom(9)))
  assert.notDeepEqual(inventDocument('TD1', createRandom(9)), inventDocument('TD1', createRandom(10)))
})
