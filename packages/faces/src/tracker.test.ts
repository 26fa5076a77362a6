import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxOf } from './geometry.ts'
import { createNets } from './nets.ts'
import { blank, scriptedNets } from './testing/scripted-nets.ts'
import { createTracker } from './tracker.ts'

const ONE = [{ x: 320, y: 240, width: 160 }]
const TWO = [...ONE, { x: 520, y: 240, width: 120 }]

function start() {
  const scripted = scriptedNets()
  const clock = { ms: 0 }
  const tracker = createTracker(createNets(scripted.load), () => clock.ms)
  /** What was run for the next picture. */
  const find = async (afterMs = 100, precise = false) => {
    clock.ms += afterMs
    scripted.runs.length = 0
    const found = await tracker.find(blank(), { precise })
    return { ...found, runs: [...scripted.runs] }
  }
  return { scripted, tracker, find }
}

test('a picture without a face gives no mesh', async () => {
  const { find } = start()
  assert.deepEqual(await find(), { faces: 0, mesh: undefined, runs: ['blazeface'] })
})

test('a new face is found by the detector and its mesh read twice', async () => {
  const { scripted, find } = start()
  scripted.scene.faces = ONE
  const { faces, mesh, runs } = await find()
  assert.equal(faces, 1)
  assert.deepEqual(runs, ['blazeface', 'facemesh', 'facemesh'])
  assert.ok(mesh)
  const box = boxOf(mesh)
  assert.ok(Math.abs(box.x + box.width / 2 - 320) < 2)
  assert.ok(Math.abs(box.y + box.height / 2 - 240) < 2)
})

test('a face at rest costs one run of the mesh, from the very square it was read from before', async () => {
  const { scripted, find } = start()
  scripted.scene.faces = ONE
  const first = await find()
  scripted.scene.meshShiftPx = 3
  const second = await find()
  const third = await find(100, true)
  assert.deepEqual([second.runs, third.runs], [['facemesh'], ['facemesh']])
  assert.deepEqual(third.mesh, second.mesh)
  assert.notDeepEqual(second.mesh, first.mesh)
})

test('a face that moves is read where it was, and again where it is when that matters', async () => {
  const { scripted, find } = start()
  scripted.scene.faces = ONE
  await find()
  scripted.scene.meshShiftPx = 12
  const first = await find()
  const second = await find()
  assert.deepEqual([first.runs, second.runs], [['facemesh'], ['facemesh']])
  assert.ok(first.mesh && second.mesh && boxOf(second.mesh).x > boxOf(first.mesh).x + 5)
  assert.deepEqual((await find(100, true)).runs, ['facemesh', 'facemesh', 'facemesh'])
})

test('once a second others are looked for, and a second face is noticed', async () => {
  const { scripted, find } = start()
  scripted.scene.faces = ONE
  await find()
  scripted.scene.faces = TWO
  assert.equal((await find(500)).faces, 1)
  assert.equal((await find(500)).faces, 2)
})

test('as long as there are two faces every picture is searched, so that one is noticed at once', async () => {
  const { scripted, find } = start()
  scripted.scene.faces = TWO
  assert.equal((await find()).faces, 2)
  scripted.scene.faces = ONE
  const { faces, runs } = await find()
  assert.equal(faces, 1)
  assert.ok(runs.includes('blazeface'))
})

test('a face that was lost is looked for at once', async () => {
  const { scripted, find } = start()
  scripted.scene.faces = ONE
  await find()
  scripted.scene.faces = []
  assert.deepEqual(await find(), { faces: 0, mesh: undefined, runs: ['facemesh', 'blazeface'] })
  scripted.scene.faces = [{ x: 100, y: 240, width: 160 }]
  const { mesh } = await find()
  assert.ok(mesh && Math.abs(boxOf(mesh).x + boxOf(mesh).width / 2 - 100) < 2)
})

test('a detection that the mesh does not confirm is not a face', async () => {
  const { scripted, find } = start()
  scripted.scene = { faces: ONE, meshConfirms: false, meshShiftPx: 0 }
  assert.deepEqual(await find(), { faces: 0, mesh: undefined, runs: ['blazeface', 'facemesh'] })
})

test('a face that is followed counts even when the detector overlooks it', async () => {
  const scripted = scriptedNets()
  const nets = createNets(scripted.load)
  const seen = { detector: true }
  const tracker = createTracker(
    {
      ...nets,
      async run(id, input) {
        const faces = scripted.scene.faces
        if (id === 'blazeface' && !seen.detector) scripted.scene.faces = []
        const outputs = await nets.run(id, input)
        scripted.scene.faces = faces
        return outputs
      },
    },
    undefined,
  )
  scripted.scene.faces = ONE
  await tracker.find(blank())
  seen.detector = false
  for (let picture = 0; picture < 15; picture++) assert.equal((await tracker.find(blank())).faces, 1)
  assert.equal(scripted.runs.filter((id) => id === 'blazeface').length, 2)
})

test('after a reset the detector searches again, and also when the size of the picture changes', async () => {
  const { scripted, tracker, find } = start()
  scripted.scene.faces = ONE
  await find()
  tracker.forget()
  assert.deepEqual((await find()).runs, ['blazeface', 'facemesh', 'facemesh'])
  scripted.runs.length = 0
  await tracker.find(blank(128, 480, 640))
  assert.equal(scripted.runs[0], 'blazeface')
})
