import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coveredEvidence } from './covered.ts'

const SIZE = 112
type Eye = (x: number) => number

/** How near dark glass is, over an aligned crop of even skin with an eye painted at each of the two places. */
function glassOver(left: Eye, right: Eye, { eyes = 0.2, yaw = 0 } = {}): number {
  const grey = new Float32Array(SIZE * SIZE).fill(120)
  for (let y = 44; y < 61; y++)
    for (let x = 26; x < 87; x++) grey[y * SIZE + x] = x < 51 ? left(x) : x > 61 ? right(x) : 120
  const picture = { width: 8, height: 8, data: new Uint8ClampedArray(8 * 8 * 4).fill(120) }
  const box = { x: 0, y: 0, width: 8, height: 8 }
  return coveredEvidence({ picture, mesh: new Float32Array(468 * 3), box, grey, eyes, yaw }).eyes
}

const glass: Eye = () => 25
const mirror: Eye = () => 110
/** As dark as glass, but with lids and an iris. */
const deep: Eye = (x) => (Math.floor(x / 4) % 2 === 0 ? 15 : 30)

test('dark glass over both eyes is seen, and so is a mirror', () => {
  assert.ok(glassOver(glass, glass) >= 1)
  assert.ok(glassOver(mirror, mirror) >= 1)
})

test('eyes that are only dark are no glass: they have detail', () => {
  assert.ok(glassOver(deep, deep) < 0.75)
})

test('a patch over one eye is no glass, nor is anything over eyes that are seen open, or on a turned head', () => {
  assert.ok(glassOver(glass, deep) < 0.75)
  assert.ok(glassOver(glass, glass, { eyes: 0.8 }) < 0.75)
  assert.equal(glassOver(glass, glass, { yaw: 25 }), 0)
})
