/** Runs the page's own code with the real nets on fixed pictures. The numbers must not change. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  cosine,
  createFaceEngine,
  EMBEDDINGS,
  type EmbeddingId,
  type Picture,
  type Pose,
  type SeenFace,
} from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { missingProgram } from '@ostiary/testkit/missing'
import { DRAWN_SIZE, drawnFace } from '@ostiary/testkit/samples/drawn-face'
import { BASELINE_PORTRAIT, readPicture } from '@ostiary/testkit/samples/portraits'

interface Golden {
  mesh: Record<string, readonly [number, number, number]>
  pose: Pose
  ageYears: number
  live: number
  /** As bytes: a direction is all that is compared. */
  vectors: Record<EmbeddingId, string>
}

const golden = JSON.parse(readFileSync(new URL('faces.golden.json', import.meta.url), 'utf8')) as Golden
const engine = createFaceEngine({ load: loadNetFromDisk() })
const drawn = drawnFace()

async function seen(picture: Picture): Promise<SeenFace> {
  engine.begin()
  const { face } = await engine.look(picture)
  assert.ok(face, 'there is no face')
  return face
}

/** Pictures side by side. */
function beside(...pictures: readonly Picture[]): Picture {
  const width = DRAWN_SIZE * pictures.length
  const data = new Uint8ClampedArray(width * DRAWN_SIZE * 4)
  for (const [index, picture] of pictures.entries())
    for (let y = 0; y < DRAWN_SIZE; y++)
      data.set(
        picture.data.subarray(y * DRAWN_SIZE * 4, (y + 1) * DRAWN_SIZE * 4),
        (y * width + index * DRAWN_SIZE) * 4,
      )
  return { width, height: DRAWN_SIZE, data }
}

function shaded(shade: number): Picture {
  return { width: DRAWN_SIZE, height: DRAWN_SIZE, data: new Uint8ClampedArray(DRAWN_SIZE * DRAWN_SIZE * 4).fill(shade) }
}

test('the drawn face is found where it was drawn', async () => {
  const { mesh, pose, eyes } = await seen(drawn)
  for (const [index, point] of Object.entries(golden.mesh))
    for (const [axis, expected] of point.entries()) {
      const actual = mesh[Number(index) * 3 + axis] ?? Number.NaN
      assert.ok(Math.abs(actual - expected) < 0.5, `point ${index}, axis ${axis}: ${actual}, not ${expected}`)
    }
  for (const angle of ['yaw', 'pitch', 'roll'] as const)
    assert.ok(Math.abs(pose[angle] - golden.pose[angle]) < 0.5, `${angle} is ${pose[angle]}`)
  assert.ok(eyes > 0.9)
})

test('age, liveness and both embeddings of the drawn face equal the recorded values', async () => {
  engine.begin()
  const measured = await engine.measure(drawn)
  assert.ok(measured)
  assert.ok(Math.abs((measured.ageYears ?? 0) - golden.ageYears) < 0.3, `${measured.ageYears}`)
  assert.ok(Math.abs(measured.live - golden.live) < 0.02, `${measured.live}`)
  for (const id of EMBEDDINGS) {
    const expected = Float32Array.from(new Int8Array(Buffer.from(golden.vectors[id], 'base64')))
    assert.ok(cosine(await engine.embed(id), expected) > 0.999, id)
  }
})

test('one repeated picture gives the same numbers to the last digit, so that a still is recognised', async () => {
  engine.begin()
  const samples = []
  for (let n = 0; n < 3; n++) samples.push(await engine.measure(drawn))
  const [first, second, third] = samples.map((sample) => ({
    digest: sample?.digest,
    pose: sample?.face.pose,
    eyes: sample?.face.eyes,
    size: sample?.face.size,
  }))
  assert.ok(first?.digest)
  assert.deepEqual(second, first)
  assert.deepEqual(third, first)
})

test('no face, one face and two faces are distinguished', async () => {
  for (const [faces, picture] of [
    [0, shaded(128)],
    [1, drawn],
    [2, beside(drawn, drawn)],
  ] as const) {
    engine.begin()
    assert.equal((await engine.look(picture)).faces, faces)
  }
})

test('a face that leans to its left shoulder has a positive roll, one to its right a negative', async () => {
  const pose = async (degrees: number) => (await seen(turned(drawn, degrees))).pose.roll
  assert.ok(Math.abs((await pose(20)) - 20) < 4)
  assert.ok(Math.abs((await pose(-20)) + 20) < 4)
})

test('age and liveness of the baseline portrait equal the recorded values', async (t) => {
  if (!existsSync(BASELINE_PORTRAIT)) return t.skip(`there is no ${BASELINE_PORTRAIT}`)
  const missing = missingProgram('ffmpeg')
  if (missing) return t.skip(missing)
  engine.begin()
  const measured = await engine.measure(await readPicture(BASELINE_PORTRAIT))
  assert.ok(measured)
  assert.ok(Math.abs((measured.ageYears ?? 0) - 30.81) < 0.3, `${measured.ageYears}`)
  assert.ok(measured.live > 0.99)
  assert.ok(measured.face.eyes > 0.9)
  assert.ok(Math.abs(measured.face.box.width - 94.6) < 1)
})

/** The picture turned about its middle, clockwise as it is drawn. */
function turned({ width, height, data }: Picture, degrees: number): Picture {
  const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
  const out = new Uint8ClampedArray(data.length)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - width / 2, y - height / 2]
      const fromX = Math.min(width - 1, Math.max(0, Math.round(c * dx + s * dy + width / 2)))
      const fromY = Math.min(height - 1, Math.max(0, Math.round(-s * dx + c * dy + height / 2)))
      out.set(data.subarray((fromY * width + fromX) * 4, (fromY * width + fromX) * 4 + 4), (y * width + x) * 4)
    }
  return { width, height, data: out }
}
