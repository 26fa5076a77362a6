import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Picture, readFrame } from '@ostiary/documents'
import { drawDocument } from './colour.ts'
import { drawPortrait } from './drawn-portrait.ts'
import { type Cut, loadCuts } from './glyphs.ts'
import { inventDocument } from './invent.ts'
import { createRandom } from './random.ts'

const [cut] = loadCuts() as [Cut, Cut]

const greyAt = ({ width, data }: Picture, x: number, y: number) =>
  data[(Math.round(y) * width + Math.round(x)) * 4] ?? 0

test('the zone of a drawn passport and of a drawn card can be read', () => {
  for (const [side, format] of [['TD3', 'TD3'] as const, ['TD1_BACK', 'TD1'] as const]) {
    const random = createRandom(11)
    const { lines } = inventDocument(format, random)
    const { picture } = drawDocument({ side, random, cut, zone: lines, words: ['INVENTED'], pixelsPerMm: 10 })
    assert.deepEqual(readFrame(picture)?.lines, lines)
  }
})

test('the same seed draws the same document, with its portrait where the layout says', () => {
  const draw = (seed: number) => {
    const random = createRandom(seed)
    return drawDocument({ side: 'TD1_FRONT', random, cut, portrait: drawPortrait(random, 70, 90), pixelsPerMm: 6 })
  }
  assert.deepEqual(draw(1), draw(1))
  assert.notDeepEqual(draw(1).picture, draw(2).picture)
  assert.deepEqual(draw(1).portrait, { x: 24, y: 78, width: 162, height: 210 })
})

test('a pasted portrait has a hard border, a printed one fades', () => {
  const step = (portraitIs: 'pasted' | 'printed') => {
    const random = createRandom(5)
    const data = new Uint8ClampedArray(40 * 50 * 4).fill(20)
    const portrait = { width: 40, height: 50, data }
    const { picture, portrait: box } = drawDocument({ side: 'TD3', random, cut, portrait, portraitIs, pixelsPerMm: 8 })
    assert.ok(box)
    return Math.abs(greyAt(picture, box.x - 1, box.y + 99) - greyAt(picture, box.x + 1, box.y + 99))
  }
  assert.ok(step('pasted') > 120)
  assert.ok(step('printed') < 60)
})

test('a barcode has as many dark and light bars in a row as its start pattern wants', () => {
  const { picture } = drawDocument({ side: 'LICENCE_BACK', random: createRandom(3), cut, barcode: 'A'.repeat(200) })
  const y = 7 * 12 + 6
  const perModule = (75 * 12) / (17 * 14 + 69)
  const bars = Array.from({ length: 17 }, (_, module) =>
    greyAt(picture, 5.3 * 12 + (module + 0.5) * perModule, y) < 128 ? 1 : 0,
  )
  assert.equal(bars.join(''), '11111111010101000')
})
