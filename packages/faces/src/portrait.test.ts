import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFaceEngine } from './engine.ts'
import { cutOut, matchScore, type PortraitArea } from './portrait.ts'
import { blank, scriptedNets } from './testing/scripted-nets.ts'
import type { Picture } from './types.ts'

/** The scripted nets see the same whatever the picture, so the width of a face goes with the size of the area. */
const AREA: PortraitArea = { centre: { x: 320, y: 240 }, width: 640, height: 480, angle: 0, faceWidthMin: 60 }
const HALF: PortraitArea = { ...AREA, width: 320, height: 240 }

function start() {
  const scripted = scriptedNets()
  scripted.scene.faces = [{ x: 320, y: 240, width: 120 }]
  return { scripted, engine: createFaceEngine({ load: scripted.load }) }
}

const close = (one: number | undefined, other: number) =>
  assert.ok(one !== undefined && Math.abs(one - other) < 1e-6, `${one} instead of ${other}`)

test('a live face is compared with the portrait of a document, in either order', async () => {
  const { scripted, engine } = start()
  await engine.measure(blank())
  engine.keepFace()
  engine.begin()
  assert.equal(engine.comparePortrait(), undefined)
  scripted.outputs.feature = Float32Array.of(0.6, 0.8, 0)
  assert.equal((await engine.findPortrait(blank(), [AREA])).is, 'found')
  close(engine.comparePortrait(), 0.6)

  engine.forgetComparison()
  assert.equal(engine.comparePortrait(), undefined)
  await engine.findPortrait(blank(), [AREA])
  engine.begin()
  await engine.measure(blank())
  engine.keepFace()
  close(engine.comparePortrait(), 1)
})

test('the engine compares only a face that was kept, and keeps none before it has measured one', async () => {
  const { engine } = start()
  assert.throws(() => engine.keepFace(), /Nothing was measured/)
  await engine.measure(blank())
  await engine.findPortrait(blank(), [AREA])
  assert.equal(engine.comparePortrait(), undefined)
})

test('later captures do not change the kept face', async () => {
  const { scripted, engine } = start()
  await engine.measure(blank())
  engine.keepFace()
  await engine.findPortrait(blank(), [AREA])
  engine.begin()
  scripted.outputs.feature = Float32Array.of(0, 1, 0)
  await engine.measure(blank())
  close(engine.comparePortrait(), 1)
})

test('a picture without a portrait forgets the portrait of the picture before', async () => {
  const { scripted, engine } = start()
  await engine.measure(blank())
  engine.keepFace()
  await engine.findPortrait(blank(), [AREA])
  scripted.scene.faces = []
  assert.deepEqual(await engine.findPortrait(blank(), [AREA]), { is: 'none' })
  assert.equal(engine.comparePortrait(), undefined)
})

test('the widest face of all areas is the portrait', async () => {
  const { engine } = start()
  const wide = await engine.findPortrait(blank(), [AREA])
  const both = await engine.findPortrait(blank(), [HALF, AREA, HALF])
  assert.deepEqual(both, wide)
})

test('a portrait that is too small is not compared', async () => {
  const { engine } = start()
  await engine.measure(blank())
  engine.keepFace()
  const seen = await engine.findPortrait(blank(), [{ ...AREA, faceWidthMin: 130 }])
  assert.ok(seen.is === 'too_small' && Math.abs(seen.face.width - 120) < 2, JSON.stringify(seen))
  assert.equal(engine.comparePortrait(), undefined)
})

test('the face is placed in the picture, also when the area is turned', async () => {
  const { engine } = start()
  const area = { ...AREA, centre: { x: 400, y: 300 } }
  const upright = await engine.findPortrait(blank(), [area])
  const turned = await engine.findPortrait(blank(), [{ ...area, angle: Math.PI / 2 }])
  assert.ok(upright.is === 'found' && turned.is === 'found')
  const [dx, dy] = [upright.face.centre.x - 400, upright.face.centre.y - 300]
  assert.ok(Math.hypot(dx, dy) < 40, 'the scripted face is in the middle of the area')
  close(turned.face.centre.x, 400 - dy)
  close(turned.face.centre.y, 300 + dx)
  assert.deepEqual([upright.face.angle, turned.face.angle], [0, Math.PI / 2])
})

test('the search for a portrait does not disturb the live face that is followed', async () => {
  const { scripted, engine } = start()
  await engine.look(blank())
  await engine.findPortrait(blank(), [AREA])
  scripted.runs.length = 0
  await engine.look(blank())
  assert.ok(!scripted.runs.includes('blazeface'))
})

test('without an area nothing is searched', async () => {
  const { scripted, engine } = start()
  assert.deepEqual(await engine.findPortrait(blank(), []), { is: 'none' })
  assert.deepEqual(scripted.runs, [])
})

test('the score is the cosine, and never below 0', () => {
  const one = Float32Array.of(1, 0)
  close(matchScore(one, Float32Array.of(3, 4)), 0.6)
  assert.equal(matchScore(one, Float32Array.of(-1, 0)), 0)
})

/** Each pixel says where it is. */
function mapOf(width: number, height: number): Picture {
  const picture = blank(255, width, height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) picture.data.set([x * 10, y * 10, 0], (y * width + x) * 4)
  return picture
}

const redGreen = ({ data }: Picture) =>
  Array.from({ length: data.length / 4 }, (_, at) => [data[at * 4], data[at * 4 + 1]])

test('an area is cut out upright', () => {
  const area = { ...AREA, centre: { x: 3, y: 2 }, width: 2, height: 2 }
  assert.deepEqual(redGreen(cutOut(mapOf(6, 4), area)), [
    [20, 10],
    [30, 10],
    [20, 20],
    [30, 20],
  ])
  assert.deepEqual(redGreen(cutOut(mapOf(6, 4), { ...area, angle: Math.PI / 2 })), [
    [30, 10],
    [30, 20],
    [20, 10],
    [20, 20],
  ])
})

test('beyond the picture an area is black', () => {
  const { data } = cutOut(mapOf(6, 4), { ...AREA, centre: { x: 0, y: 0 }, width: 2, height: 2 })
  assert.deepEqual([...data.subarray(0, 4)], [0, 0, 0, 255])
})
