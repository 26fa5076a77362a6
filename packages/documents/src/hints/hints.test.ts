import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentText, Picture } from '../types.ts'
import { COLOUR_SPREAD_MIN, colourSpread } from './copy.ts'
import { BORDER_SHARPNESS_MIN, borderSharpness } from './pasted.ts'
import { SCREEN_PEAK_MIN, screenPeak } from './screen.ts'
import { doSidesDisagree } from './sides.ts'
import { powerOf, TILE } from './spectrum.ts'

type Paint = (x: number, y: number) => readonly [number, number, number]

function paint(width: number, height: number, colour: Paint): Picture {
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  let state = 12345
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      const noise = (state / 2 ** 32 - 0.5) * 12
      colour(x, y).forEach((value, channel) => {
        data[(y * width + x) * 4 + channel] = value + noise
      })
    }
  return { width, height, data }
}

const PORTRAIT = { x: 60, y: 60, width: 140, height: 180 }
const FACE = {
  centre: { x: 130, y: PORTRAIT.y + 0.52 * PORTRAIT.height },
  width: 75,
  height: 0.5 * PORTRAIT.height,
  angle: 0,
}
const TEXT: DocumentText = {
  source: 'TD1',
  kind: 'national_id',
  issuer: 'UTO',
  number: 'X1234567',
  familyName: 'VAN DER LUNE',
  givenNames: 'MIRA',
  birth: '1984-02-29',
  expiry: '2030-11-17',
  checks: [],
}

/** Colours that change over the page, and a darker portrait with a border of a given softness. */
const page = (softPx: number): Paint => {
  return (x, y) => {
    const edge = Math.min(
      x - PORTRAIT.x,
      PORTRAIT.x + PORTRAIT.width - x,
      y - PORTRAIT.y,
      PORTRAIT.y + PORTRAIT.height - y,
    )
    const share = Math.min(1, Math.max(0, 0.5 + edge / softPx))
    const wave = 20 * Math.sin(x / 23) * Math.sin(y / 17)
    return [210 + wave - 80 * share, 205 - 70 * share, 200 - wave - 60 * share]
  }
}

test('the power of a wave is at its frequency', () => {
  const tile = Float64Array.from({ length: TILE * TILE }, (_, at) =>
    Math.cos((2 * Math.PI * (5 * (at % TILE) + 9 * Math.floor(at / TILE))) / TILE),
  )
  const power = powerOf(tile)
  const highest = power.indexOf(Math.max(...power))
  assert.ok([9 * TILE + 5, (TILE - 9) * TILE + TILE - 5].includes(highest))
  assert.ok(Math.abs((power[9 * TILE + 5] ?? 0) - (TILE * TILE) ** 2 / 4) < 1)
})

test('a fine grid is seen as a screen, and the same page without it is not', () => {
  const plain = page(10)
  const grid: Paint = (x, y) => {
    const dim = 1 + 0.06 * Math.sin(x * 1.9 + y * 0.3) * Math.sin(y * 1.7)
    const [red, green, blue] = plain(x, y)
    return [red * dim, green * dim, blue * dim]
  }
  assert.ok((screenPeak(paint(300, 300, plain)) ?? 99) < SCREEN_PEAK_MIN)
  assert.ok((screenPeak(paint(300, 300, grid)) ?? 0) > SCREEN_PEAK_MIN)
})

test('a picture that is too small for the spectrum gives no hint of a screen', () => {
  assert.equal(screenPeak(paint(200, 300, page(10))), undefined)
})

test('a grey page is seen as a copy in any light, and a page of colours is not', () => {
  const grey: Paint = (x, y) => {
    const value = page(10)(x, y)[1]
    return [value, value, value]
  }
  const warm: Paint = (x, y) => [grey(x, y)[0] * 1.15, grey(x, y)[1], grey(x, y)[2] * 0.7]
  assert.ok((colourSpread(paint(300, 300, grey)) ?? 1) < COLOUR_SPREAD_MIN)
  assert.ok((colourSpread(paint(300, 300, warm)) ?? 1) < COLOUR_SPREAD_MIN)
  assert.ok((colourSpread(paint(300, 300, page(10))) ?? 0) > COLOUR_SPREAD_MIN)
})

test('a picture that is too dark for colours gives no hint of a copy', () => {
  assert.equal(colourSpread(paint(300, 300, () => [20, 20, 20])), undefined)
})

test('a hard border is seen as pasted also when it leans, and a soft one is not', () => {
  const leaning: Paint = (x, y) => page(1)(x + (y - 150) * 0.04, y - (x - 130) * 0.04)
  assert.ok((borderSharpness(paint(300, 300, page(1)), FACE) ?? 0) > BORDER_SHARPNESS_MIN)
  assert.ok((borderSharpness(paint(300, 300, leaning), FACE) ?? 0) > BORDER_SHARPNESS_MIN)
  assert.ok((borderSharpness(paint(300, 300, page(10)), FACE) ?? 99) < BORDER_SHARPNESS_MIN)
})

for (const share of [0.42, 0.5, 0.6])
  test(`the border is found around a face that takes ${share} of the portrait's height`, () => {
    const face = { ...FACE, height: share * PORTRAIT.height }
    assert.ok((borderSharpness(paint(300, 300, page(1)), face) ?? 0) > BORDER_SHARPNESS_MIN)
    assert.ok((borderSharpness(paint(300, 300, page(10)), face) ?? 99) < BORDER_SHARPNESS_MIN)
  })

test('the border of a portrait that lies on its side is found', () => {
  const turned: Paint = (x, y) => page(1)(y, 299 - x)
  const face = { ...FACE, centre: { x: 299 - FACE.centre.y, y: FACE.centre.x }, angle: Math.PI / 2 }
  assert.ok((borderSharpness(paint(300, 300, turned), face) ?? 0) > BORDER_SHARPNESS_MIN)
})

test('the edge of a document beside a soft portrait is not taken for a pasted border', () => {
  const edge: Paint = (x, y) => (x < PORTRAIT.x - 6 ? [40, 40, 40] : page(10)(x, y))
  assert.ok((borderSharpness(paint(300, 300, edge), FACE) ?? 99) < BORDER_SHARPNESS_MIN)
})

test('a portrait at the edge of the picture gives no hint', () => {
  assert.equal(borderSharpness(paint(300, 300, page(1)), { ...FACE, centre: { x: 20, y: 150 } }), undefined)
})

test('two sides disagree when number, birth, expiry or family name contradict each other', () => {
  for (const other of [
    { number: 'X1234568' },
    { birth: '1994-02-29' },
    { expiry: '2031-11-17' },
    { familyName: 'SOLE' },
  ])
    assert.ok(doSidesDisagree(TEXT, { ...TEXT, ...other }), JSON.stringify(other))
})

test('two sides agree where one says less, cuts a name or parts it differently', () => {
  for (const other of [
    {},
    { number: undefined, expiry: undefined },
    { familyName: 'VAN-DER LU' },
    { number: 'X 123-4567' },
  ])
    assert.ok(!doSidesDisagree(TEXT, { ...TEXT, ...other }), JSON.stringify(other))
})
