import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Detection, detectorInput, letterbox, overlapOf, readDetections, withoutOverlaps } from './detect.ts'
import { applyTo } from './geometry.ts'
import type { Picture, Tensor } from './types.ts'

const WIDE: Picture = { width: 640, height: 480, data: new Uint8ClampedArray(640 * 480 * 4).fill(255) }

interface Planted {
  anchor: number
  logit: number
  /** Offsets and size as the net gives them, then the two eyes. */
  box: readonly [number, number, number, number]
  eyes?: readonly [number, number, number, number]
}

/** The output of a detector that sees faces only at the planted anchors. */
function outputs({ fine = [], coarse = [] }: { fine?: Planted[]; coarse?: Planted[] }): Record<string, Tensor> {
  const grid = (anchors: number, planted: readonly Planted[]) => {
    const logits = new Float32Array(anchors).fill(-20)
    const boxes = new Float32Array(anchors * 16)
    for (const { anchor, logit, box, eyes = [0, 0, 0, 0] } of planted) {
      logits[anchor] = logit
      boxes.set([...box, ...eyes], anchor * 16)
    }
    return { logits: { dims: [1, anchors, 1], data: logits }, boxes: { dims: [1, anchors, 16], data: boxes } }
  }
  const [first, second] = [grid(512, fine), grid(384, coarse)]
  return { Identity: first.logits, Identity_1: second.logits, Identity_2: first.boxes, Identity_3: second.boxes }
}

test('a wide picture stands in the middle of the square, with nothing cut off', () => {
  const to = letterbox(WIDE)
  assert.deepEqual(applyTo(to, { x: 0, y: 0 }), { x: 0, y: 32 })
  assert.deepEqual(applyTo(to, { x: 640, y: 480 }), { x: 256, y: 224 })
})

test('the input runs from -1 to 1, with the bars black', () => {
  const { dims, data } = detectorInput(WIDE)
  assert.deepEqual(dims, [1, 256, 256, 3])
  assert.equal(data[(10 * 256 + 128) * 3], -1)
  assert.equal(data[(128 * 256 + 128) * 3], 1)
})

test('a box is read from the middle of its cell, on both grids, in pixels of the picture', () => {
  // Fine grid: 16 cells of 16 px, 2 anchors each: cell (8, 7) is anchors 240 and 241, its middle (136, 120).
  const [fine] = readDetections(outputs({ fine: [{ anchor: 241, logit: 3, box: [4, -8, 40, 60] }] }), WIDE)
  assert.ok(fine)
  const { x, y, width, height } = fine.box
  assert.deepEqual([x, y, width, height].map(Math.round), [(140 - 20) * 2.5, (112 - 30 - 32) * 2.5, 100, 150])
  // Coarse grid: 8 cells of 32 px, 6 anchors each: cell (3, 4) begins at 210, its middle is (112, 144).
  const planted: Planted = { anchor: 215, logit: 0.5, box: [0, 0, 64, 64], eyes: [-10, -5, 10, -6] }
  const [coarse] = readDetections(outputs({ coarse: [planted] }), WIDE)
  assert.ok(coarse)
  const eyes = coarse.eyes.map((eye) => [Math.round(eye.x * 2), Math.round(eye.y * 2)])
  assert.deepEqual(eyes, [
    [102 * 5, (139 - 32) * 5],
    [122 * 5, (138 - 32) * 5],
  ])
  assert.ok(Math.abs(coarse.score - 0.6225) < 1e-4)
})

test('a detection with a low score is not a face', () => {
  assert.deepEqual(readDetections(outputs({ fine: [{ anchor: 1, logit: -0.1, box: [0, 0, 40, 40] }] }), WIDE), [])
})

test('two people are two faces, the larger one first, for any number of boxes on each', () => {
  const faces = readDetections(
    outputs({
      fine: [
        { anchor: 224, logit: 2, box: [0, 0, 40, 40], eyes: [-8, -5, 8, -5] },
        { anchor: 225, logit: 4, box: [2, 1, 42, 42], eyes: [-7, -5, 9, -5] },
        { anchor: 248, logit: 3, box: [0, 0, 60, 60], eyes: [-12, -8, 12, -8] },
      ],
    }),
    WIDE,
  )
  assert.equal(faces.length, 2)
  assert.deepEqual(
    faces.map(({ box }) => Math.round(box.width)),
    [150, 105],
  )
})

test('a face far smaller than the main one does not count', () => {
  const planted = (width: number): Planted[] => [
    { anchor: 224, logit: 2, box: [0, 0, width, width], eyes: [-2, 0, 2, 0] },
    { anchor: 248, logit: 3, box: [0, 0, 100, 100], eyes: [-20, -8, 20, -8] },
  ]
  assert.equal(readDetections(outputs({ fine: planted(20) }), WIDE).length, 1)
  assert.equal(readDetections(outputs({ fine: planted(30) }), WIDE).length, 2)
})

test('a detector without one of its outputs is refused', () => {
  const { Identity_3: _, ...rest } = outputs({})
  assert.throws(() => readDetections(rest, WIDE), /lacks an output/)
})

test('overlap is intersection over union', () => {
  const box = { x: 0, y: 0, width: 2, height: 2 }
  assert.equal(overlapOf(box, box), 1)
  assert.equal(overlapOf(box, { ...box, x: 1 }), 1 / 3)
  assert.equal(overlapOf(box, { ...box, x: 2 }), 0)
})

test('of the boxes over one face the one with the highest score is kept, even when another is far larger', () => {
  const eyes = [
    { x: 40, y: 40 },
    { x: 60, y: 40 },
  ] as const
  const tight: Detection = { score: 0.7, box: { x: 30, y: 25, width: 40, height: 50 }, eyes }
  const loose: Detection = { score: 0.9, box: { x: 0, y: 0, width: 100, height: 120 }, eyes }
  assert.deepEqual(withoutOverlaps([tight, loose]), [loose])
})
