import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFaceEngine, LOOK_NETS, MEASURE_NETS } from './engine.ts'
import { blank, scriptedNets } from './testing/scripted-nets.ts'
import type { Picture } from './types.ts'

const FACES = [{ x: 320, y: 240, width: 240 }]

/** Stripes as wide as detail in a face: sharp, evenly lit, neither dark nor bright. */
function sharp(): Picture {
  const picture = blank()
  for (let y = 0; y < 480; y++)
    for (let x = 0; x < 640; x++) {
      const shade = (Math.floor(x / 10) + Math.floor(y / 10)) % 2 === 0 ? 80 : 170
      picture.data.fill(shade, (y * 640 + x) * 4, (y * 640 + x) * 4 + 3)
    }
  return picture
}

function start(options: { agedMax?: number } = {}) {
  const scripted = scriptedNets()
  scripted.scene.faces = FACES
  return { scripted, engine: createFaceEngine({ load: scripted.load, ...options }) }
}

test('look() loads only the nets that it needs', async () => {
  const { scripted, engine } = start()
  const { faces, face } = await engine.look(sharp())
  assert.equal(faces, 1)
  assert.ok(face && face.eyes > 0.5 && face.size > 0.2 && face.quality.score > 0.35)
  assert.deepEqual(scripted.loads.toSorted(), [...LOOK_NETS].toSorted())
})

test('eyes that are surely open are looked at once, others again with wider and narrower crops', async () => {
  const { scripted, engine } = start()
  const looks = async () => {
    scripted.runs.length = 0
    const { face } = await engine.look(sharp())
    return { eyes: face?.eyes ?? 0, runs: scripted.runs.filter((id) => id === 'fr_eye').length }
  }
  const open = await looks()
  assert.equal(open.runs, 4)
  scripted.outputs.eyeShutLogit = 5
  const shut = await looks()
  assert.equal(shut.runs, 12)
  assert.ok(shut.eyes < open.eyes * 0.35)
})

test('a picture without a face gives a sighting but no measurement', async () => {
  const { scripted, engine } = start()
  scripted.scene.faces = []
  assert.deepEqual(await engine.look(sharp()), { faces: 0, face: null })
  assert.equal(await engine.measure(sharp()), null)
  assert.ok(!scripted.loads.includes('fr_feature'))
})

test('a sample carries age, liveness and a digest', async () => {
  const { engine } = start()
  const measured = await engine.measure(sharp())
  assert.ok(measured)
  assert.equal(measured.ageYears, (31 + 35) / 2)
  assert.ok(Math.abs(measured.live - Math.exp(3) / (Math.exp(3) + 2)) < 1e-6)
  assert.match(measured.digest, /^[\w-]{11}$/)
})

test('samples are compared with the first one until the next capture begins', async () => {
  const { scripted, engine } = start()
  assert.equal((await engine.measure(sharp()))?.sameness, undefined)
  scripted.outputs.feature = Float32Array.of(0.6, 0.8, 0)
  const second = await engine.measure(sharp())
  assert.ok(Math.abs((second?.sameness ?? 0) - 0.6) < 1e-6)
  engine.begin()
  assert.equal((await engine.measure(sharp()))?.sameness, undefined)
})

test('samples with the same features have the same digest, others another', async () => {
  const { scripted, engine } = start()
  const digest = async () => (await engine.measure(sharp()))?.digest
  const first = await digest()
  assert.equal(await digest(), first)
  scripted.outputs.feature = Float32Array.of(1, 0.05, 0)
  assert.notEqual(await digest(), first)
})

test('a dark picture, or a covered face, gives no age', async () => {
  const { scripted, engine } = start()
  assert.equal((await engine.measure(blank(5)))?.ageYears, undefined)
  // To these nets a plain surface is a face without nostrils and lips.
  assert.equal((await engine.look(blank(90))).face?.covered, 'mouth')
  assert.equal((await engine.measure(blank(90)))?.ageYears, undefined)
  assert.ok(!scripted.loads.includes('faceres_deep'))
})

test('after as many ages as were asked for no more are estimated, until the next capture', async () => {
  const { engine } = start({ agedMax: 2 })
  const ages = async () => {
    const all = []
    for (let n = 0; n < 3; n++) all.push((await engine.measure(sharp()))?.ageYears)
    return all
  }
  assert.deepEqual(await ages(), [33, 33, undefined])
  engine.begin()
  assert.deepEqual(await ages(), [33, 33, undefined])
})

test('[D-022] a capture without ages runs no age net, and the next capture with ages runs them again', async () => {
  const { scripted, engine } = start()
  engine.begin({ ages: false })
  assert.equal((await engine.measure(sharp()))?.ageYears, undefined)
  assert.ok(!scripted.runs.some((net) => net === 'fa_age' || net === 'faceres_deep'))
  engine.begin()
  assert.equal((await engine.measure(sharp()))?.ageYears, 33)
})

test('the best sample is the one that is embedded', async () => {
  const { scripted, engine } = start()
  await assert.rejects(engine.embed('FACE3_3'), /Nothing was measured/)
  scripted.outputs.feature = Float32Array.of(0, 1, 0)
  await engine.measure(blank(5))
  scripted.outputs.feature = Float32Array.of(0, 0, 2)
  await engine.measure(sharp())
  scripted.outputs.feature = Float32Array.of(1, 0, 0)
  await engine.measure(blank(5))
  assert.deepEqual([...(await engine.embed('FACE3_3'))], [0, 0, 1])
  scripted.outputs.feature = Float32Array.of(7, 7, 7)
  assert.deepEqual([...(await engine.embed('FACE3_1'))], [7, 7, 7])
  engine.begin()
  await assert.rejects(engine.embed('FACE3_1'), /Nothing was measured/)
})

test('warming up runs each net of look() and measure() once', async () => {
  const { scripted, engine } = start()
  await engine.warmUp()
  assert.deepEqual(scripted.runs, [...LOOK_NETS, ...MEASURE_NETS])
  await engine.warmUp(['dlib'])
  assert.equal(scripted.runs.at(-1), 'dlib')
})
