import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from '@ostiary/faces'
import { drawHeld, HELD_FRAMES, type HeldOptions, NOISE_LEVELS } from './held.ts'

const SIZE = { width: 160, height: 90 }

/** White, with a black left half. */
function sheet(): Picture {
  const [width, height] = [240, 150]
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let at = 0; at < data.length; at += 4) if ((at / 4) % width < width / 2) data.fill(0, at, at + 3)
  return { width, height, data }
}

const frames = (options: HeldOptions = {}) => [...drawHeld(sheet(), { size: SIZE, seed: 1, ...options })]
const firstOf = (options: HeldOptions = {}) => frames(options)[0] as Picture
const at = ({ width, data }: Picture, x: number, y: number) => [
  ...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3),
]

/** Every channel is this, but for the noise of the camera. */
const isColour = (seen: readonly number[], colour: readonly number[]) =>
  seen.every((level, channel) => Math.abs(level - (colour[channel] ?? 0)) <= NOISE_LEVELS)

test('a thing is held in the middle, as large as it may be', () => {
  const picture = firstOf({ fill: 0.8 })
  assert.ok(isColour(at(picture, 45, 45), [0, 0, 0]))
  assert.ok(isColour(at(picture, 115, 45), [255, 255, 255]))
  // It is 72 pixels high and 115 wide.
  assert.ok(isColour(at(picture, 10, 45), [84, 78, 72]))
  assert.ok(isColour(at(picture, 80, 3), [84, 78, 72]))
})

test('a hand is never quite still', () => {
  const some = frames()
  assert.equal(some.length, HELD_FRAMES)
  assert.equal(new Set(some.map(({ data }) => data.join())).size, HELD_FRAMES)
})

const shadesBeside = (picture: Picture) => {
  const row = Array.from({ length: 60 }, (_, x) => at(picture, x + 50, 45)[0] as number)
  return row.filter((level) => level > 20 && level < 235).length
}

test('out of focus the edge is soft', () => {
  assert.ok(shadesBeside(firstOf()) <= 3)
  assert.ok(shadesBeside(firstOf({ blurPx: 3 })) >= 8)
})

test('a screen has stripes and a dark border', () => {
  const picture = firstOf({ screen: true, fill: 0.8 })
  const whites = Array.from({ length: 20 }, (_, x) => at(picture, x + 105, 45))
  assert.ok(
    whites.some(([red = 0, , blue = 0]) => Math.abs(red - blue) > 2 * NOISE_LEVELS),
    'stripes',
  )
  const border = Array.from({ length: SIZE.width }, (_, x) => at(picture, x, 45))
  assert.ok(
    border.slice(15, 30).some((seen) => isColour(seen, [18, 18, 18])),
    'border',
  )
})

test('a lamp is reflected where it should be', () => {
  const picture = firstOf({ glare: { x: 0.25, y: 0.5, levels: 200 } })
  const [red = 0] = at(picture, 50, 45)
  assert.ok(red > 150, `${red}`)
  const [far = 255] = at(picture, 75, 10)
  assert.ok(far < 60, `${far}`)
})
