import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portraitAreas } from '@ostiary/documents'
import { cutOut, type Picture } from '@ostiary/faces'
import { createRandom } from '@ostiary/models/drawn-documents/random'
import { holdDocument } from './held-document.ts'
import { PRINT_KINDS, type PrintKind, printPortrait } from './print.ts'

const [COLOUR, GREY] = PRINT_KINDS as readonly [PrintKind, PrintKind]
const CARD = PRINT_KINDS.find(({ page }) => page === 'card') as PrintKind
const PLAIN = { contrast: 1, pattern: 0, glare: 0, noise: 0 }

function filled(width: number, height: number, [red, green, blue]: readonly [number, number, number]): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let at = 0; at < data.length; at += 4) data.set([red, green, blue, 255], at)
  return { width, height, data }
}

function levels({ data }: Picture, channel: number) {
  const values = data.filter((_, at) => at % 4 === channel)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { mean, least: Math.min(...values), most: Math.max(...values) }
}

for (const tone of [64, 128, 192])
  test(`a tone of ${tone} becomes dots of ink that are as bright on the whole`, () => {
    const { mean, least, most } = levels(
      printPortrait(filled(60, 60, [tone, tone, tone]), { ...GREY, ...PLAIN }, createRandom(1)),
      0,
    )
    assert.ok(Math.abs(mean - tone) < 6, `${mean}`)
    assert.ok(least < 30 && most > 225, 'ink and paper')
  })

test('a grey print has no colour, and a colour print has', () => {
  const skin = filled(60, 60, [200, 150, 120])
  const means = (kind: PrintKind) =>
    [0, 1, 2].map((channel) =>
      Math.round(levels(printPortrait(skin, { ...kind, ...PLAIN }, createRandom(1)), channel).mean),
    )
  const [red, green, blue] = means(COLOUR) as [number, number, number]
  assert.ok(Math.abs(red - 200) < 8 && Math.abs(green - 150) < 8 && Math.abs(blue - 120) < 8, `${red} ${green} ${blue}`)
  assert.equal(new Set(means(GREY)).size, 1)
})

for (const kind of [COLOUR, CARD])
  test(`the portrait of a ${kind.page} is where the reader looks for it`, () => {
    const print = filled(400, 500, [255, 0, 0])
    const { picture, place } = holdDocument(print, { ...kind, ...PLAIN }, createRandom(3))
    const isRed = ({ data }: Picture) => {
      let count = 0
      for (let at = 0; at < data.length; at += 4) if ((data[at] ?? 0) > 200 && (data[at + 1] ?? 0) < 60) count++
      return count
    }
    const [first] = portraitAreas(place)
    assert.ok(first)
    const [inside, all] = [isRed(cutOut(picture, first)), isRed(picture)]
    assert.ok(all > 1000 && Math.abs(inside / all - 1) < 0.02, `${inside} of ${all}`)
  })
