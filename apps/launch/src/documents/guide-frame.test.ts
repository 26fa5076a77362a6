import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOCUMENT_SIDES } from './document-types.ts'
import { guideFrame, shownPart } from './guide-frame.ts'

for (const [width, height] of [
  [1080, 1920],
  [1920, 1080],
  [640, 480],
] as const) {
  test(`the frame has the proportions of the document and lies within what is shown of ${width} x ${height}`, () => {
    const shown = shownPart(width, height)
    for (const side of DOCUMENT_SIDES) {
      const frame = guideFrame(width, height, side)
      assert.ok(Math.abs(frame.width / frame.height - (side === 'page' ? 1.42 : 1.585)) < 0.01, side)
      assert.ok(frame.x >= shown.x && frame.x + frame.width <= shown.x + shown.width, side)
      assert.ok(frame.y >= shown.y && frame.y + frame.height <= shown.y + shown.height, side)
    }
  })
}

test('a document that fills the frame has 16 pixels per character in full HD, upright and lying', () => {
  for (const [width, height] of [
    [1080, 1920],
    [1920, 1080],
  ] as const) {
    // A character is 2.54 mm wide.
    assert.ok((guideFrame(width, height, 'page').width / 125) * 2.54 >= 16)
    assert.ok((guideFrame(width, height, 'back').width / 85.6) * 2.54 >= 16)
  }
})
