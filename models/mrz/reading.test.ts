/** The reader on drawn documents. The tests stand here because the package of the reader may not import what draws. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isAcceptable,
  lookForZone,
  MRZ_CHARACTERS,
  MRZ_FORMATS,
  type MrzFormat,
  readFrame,
  readGroup,
  shippedNet,
} from '@ostiary/documents'
import { drawPage } from '../drawn-documents/draw.ts'
import { type Coverage, type Cut, coverageOf, loadCuts } from '../drawn-documents/glyphs.ts'
import { inventDocument } from '../drawn-documents/invent.ts'
import { LEVELS, type PhotographOptions, photograph, toPicture } from '../drawn-documents/photograph.ts'
import { createRandom } from '../drawn-documents/random.ts'

const [firstCut] = loadCuts()
function theCut(): Cut {
  if (!firstCut) throw new Error('there is no cut')
  return firstCut
}

function photographed(format: MrzFormat, seed: number, options: PhotographOptions = {}) {
  const random = createRandom(seed)
  const document = inventDocument(format, random)
  const photo = photograph(drawPage({ document, cut: theCut(), random }), LEVELS[2], random, options)
  return { document, photo, picture: toPicture(photo) }
}

for (const format of MRZ_FORMATS)
  test(`a ${format} held still is read character by character`, () => {
    const { document, photo, picture } = photographed(format, 4_000_100)
    const read = readFrame(picture)
    assert.deepEqual({ format: read?.format, lines: read?.lines }, { format, lines: document.lines })
    assert.ok(Math.abs((read?.pixelsPerCharacter ?? 0) / photo.pixelsPerCharacter - 1) < 0.1)
  })

for (let degrees = 0; degrees <= 20; degrees += 2)
  test(`a document that is turned by ${degrees} degrees is read`, () => {
    const { document, picture } = photographed('TD3', 4_000_200 + degrees, { tiltDegrees: degrees })
    assert.deepEqual(readFrame(picture)?.lines, document.lines)
  })

test('a document on its head is read', () => {
  const { document, picture } = photographed('TD1', 4_000_300)
  const turned = { ...picture, data: Uint8ClampedArray.from(picture.data) }
  const pixels = picture.width * picture.height
  for (let at = 0; at < pixels; at++)
    turned.data.set(picture.data.subarray((pixels - 1 - at) * 4, (pixels - at) * 4), at * 4)
  assert.deepEqual(readFrame(turned)?.lines, document.lines)
})

const shiftedPhoto = photographed('TD2', 4_000_400)
for (const cells of [-4, -3, -2, -1, 1, 2, 3, 4])
  test(`lines that were found ${cells} characters off are read from their first character`, () => {
    const { document, photo } = shiftedPhoto
    const grey = { width: photo.width, height: photo.height, data: photo.grey }
    const lines = photo.centres.map((centres) => {
      const [first, last] = [centres[0], centres.at(-1)]
      if (!first || !last) throw new Error('a line without characters')
      const [x, y] = [((last.x - first.x) / 35) * cells, ((last.y - first.y) / 35) * cells]
      return { start: { x: first.x + x, y: first.y + y }, end: { x: last.x + x, y: last.y + y } }
    })
    const zone = readGroup(shippedNet(), grey, { lines, columns: 36, score: 1 })
    assert.deepEqual(zone?.decoded.lines, document.lines)
  })

for (const [side, shift] of [
  ['left', { x: -0.3, y: 0 }],
  ['right', { x: 0.3, y: 0 }],
  ['bottom', { x: 0, y: 0.25 }],
] as const)
  test(`a zone that lies partly outside on the ${side} is not accepted`, () => {
    const { picture } = photographed('TD3', 4_000_500, { shift })
    const read = readFrame(picture)
    assert.ok(!read || !isAcceptable(read), read?.lines.join('\n'))
  })

test('of two documents in one picture one is read, never a mixture', () => {
  const narrow = { ...LEVELS[2], width: 800 }
  const [left, right] = [1, 2].map((number) => {
    const random = createRandom(4_000_600 + number)
    const document = inventDocument('TD1', random)
    return { document, photo: photograph(drawPage({ document, cut: theCut(), random }), narrow, random) }
  })
  if (!left || !right) throw new Error('two documents are needed')
  const grey = new Uint8Array(1600 * 720)
  for (let y = 0; y < 720; y++) {
    grey.set(left.photo.grey.subarray(y * 800, (y + 1) * 800), y * 1600)
    grey.set(right.photo.grey.subarray(y * 800, (y + 1) * 800), y * 1600 + 800)
  }
  const read = readFrame(toPicture({ width: 1600, height: 720, grey }))
  assert.ok([left, right].some(({ document }) => read?.lines.join('\n') === document.lines.join('\n')))
})

test('lines of text on a screen are not accepted as a zone', () => {
  for (let seed = 0; seed < 4; seed++) {
    const random = createRandom(4_000_700 + seed)
    const [width, height, pitch] = [1280, 720, random.between(14, 26)]
    const grey = new Uint8Array(width * height).fill(235)
    for (let line = 0; line < 8; line++)
      for (let column = 0; column < Math.min(44, 1200 / pitch); column++) {
        if (random.next() < 0.15) continue
        const character = MRZ_CHARACTERS[random.below(36)] ?? 'A'
        stamp({ grey, width }, coverageOf(theCut(), character, { pitch }), {
          x: 20 + column * pitch,
          y: 100 + line * pitch * 2.5,
        })
      }
    const read = readFrame(toPicture({ width, height, grey }))
    assert.ok(!read || !isAcceptable(read), read?.lines.join('\n'))
  }
})

test('lines that are 8 mm apart are read', () => {
  const document = inventDocument('TD3', createRandom(4_000_750))
  const [width, height, pitch] = [1280, 720, 25]
  const grey = new Uint8Array(width * height).fill(225)
  for (const [row, line] of document.lines.entries())
    for (const [column, character] of [...line].entries())
      stamp({ grey, width }, coverageOf(theCut(), character, { pitch }), {
        x: 80 + column * pitch,
        y: 500 + (row * pitch * 8) / 2.54,
      })
  assert.deepEqual(readFrame(toPicture({ width, height, grey }))?.lines, document.lines)
})

test('a quick look says how large, how tilted and how sharp the zone is, and whether it is cut off', () => {
  const { photo, picture } = photographed('TD3', 4_000_800, { tiltDegrees: 7 })
  const look = lookForZone(picture)
  assert.ok(look)
  assert.equal(look.columns, 44)
  assert.ok(Math.abs(look.tiltDegrees - 7) < 2.5, `tilt ${look.tiltDegrees}`)
  assert.ok(Math.abs(look.pixelsPerCharacter / photo.pixelsPerCharacter - 1) < 0.12)
  assert.deepEqual([look.isSharp, look.isCutOff], [true, false])
  const random = createRandom(4_000_801)
  const page = drawPage({ document: inventDocument('TD3', random), cut: theCut(), random })
  assert.notEqual(lookForZone(toPicture(photograph(page, { ...LEVELS[2], blur: [5, 5] }, random)))?.isSharp, true)
  assert.equal(
    lookForZone({ width: 640, height: 360, data: new Uint8ClampedArray(640 * 360 * 4).fill(128) }),
    undefined,
  )
})

function stamp(target: { grey: Uint8Array; width: number }, glyph: Coverage, { x, y }: { x: number; y: number }): void {
  for (let row = 0; row < glyph.height; row++)
    for (let column = 0; column < glyph.width; column++) {
      const at = (Math.round(y) + row) * target.width + Math.round(x) + column
      const share = glyph.data[row * glyph.width + column] ?? 0
      target.grey[at] = (target.grey[at] ?? 0) * (1 - share)
    }
}
