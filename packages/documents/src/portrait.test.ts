import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PortraitArea, portraitAreas } from './portrait.ts'
import { MRZ_FORMATS, type Point } from './types.ts'

/** A passport page at 8 px/mm whose upper left corner is at (100, 50), turned by `angle` around that corner. */
function zoneOf(angle: number): readonly [Point, Point, Point, Point] {
  const [left, right, top, bottom] = [6, 6 + 44 * 2.54, 88 - 17.4, 88 - 7]
  return [
    placed(left, top, angle),
    placed(right, top, angle),
    placed(right, bottom, angle),
    placed(left, bottom, angle),
  ]
}

function placed(xMm: number, yMm: number, angle: number): Point {
  const [x, y] = [xMm * 8, yMm * 8]
  return { x: 100 + x * Math.cos(angle) - y * Math.sin(angle), y: 50 + x * Math.sin(angle) + y * Math.cos(angle) }
}

function holds({ centre, width, height, angle }: PortraitArea, { x, y }: Point): boolean {
  const [dx, dy] = [x - centre.x, y - centre.y]
  const along = dx * Math.cos(angle) + dy * Math.sin(angle)
  const across = -dx * Math.sin(angle) + dy * Math.cos(angle)
  return Math.abs(along) <= width / 2 && Math.abs(across) <= height / 2
}

for (const degrees of [0, 12, -90, 180])
  test(`the areas of a page turned by ${degrees} degrees hold its portrait and nothing beyond the page`, () => {
    const angle = (degrees * Math.PI) / 180
    const areas = portraitAreas({ format: 'TD3', corners: zoneOf(angle) })
    for (const area of areas) {
      for (const [x, y] of [
        [5, 20],
        [40, 20],
        [5, 65],
        [40, 65],
      ] as const)
        assert.ok(holds(area, placed(x, y, angle)))
      for (const [x, y] of [
        [-5, 40],
        [130, 40],
        [40, -5],
        [40, 95],
      ] as const)
        assert.ok(!holds(area, placed(x, y, angle)))
    }
    assert.equal(areas.length, 2)
    assert.ok(!holds(areas[0] as PortraitArea, placed(100, 40, angle)), 'the first area is the left part')
  })

test('every format but TD1 has its portrait on the side of the zone', () => {
  const without = MRZ_FORMATS.filter((format) => portraitAreas({ format, corners: zoneOf(0) }).length === 0)
  assert.deepEqual(without, ['TD1'])
})

test('a card is searched on both sides and on its side, within the frame', () => {
  const frame = { x: 100, y: 60, width: 856, height: 540 }
  const areas = portraitAreas({ frame })
  const around = (x: number, y: number) => areas.filter((area) => holds(area, { x, y })).map(({ angle }) => angle)
  const quarter = Math.PI / 2
  assert.deepEqual(around(200, 300), [0, quarter, -quarter])
  assert.deepEqual(around(850, 300), [0, quarter, -quarter])
  assert.deepEqual(around(90, 300), [])
  assert.deepEqual(around(500, 610), [])
})

test('the least width of a face grows with the scale, so that a close picture of a ghost portrait is not taken', () => {
  const least = (width: number) =>
    portraitAreas({ frame: { x: 0, y: 0, width, height: width * 0.63 } })[0]?.faceWidthMin
  assert.equal(least(685), 60)
  assert.equal(least(1712), 124)
})
