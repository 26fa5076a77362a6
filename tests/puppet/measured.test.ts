/** The puppet as our own engine sees it: it must be able to answer a challenge, and stay the same person while it does. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { cosine, createFaceEngine, type Picture, type SeenFace } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { missingProgram } from '@ostiary/testkit/missing'
import { BASELINE_PORTRAIT } from '@ostiary/testkit/samples/portraits'
import { createNoise } from './natural.ts'
import { FIGURE } from './portrait-files.ts'
import { createPuppet, type Puppet } from './puppet.ts'
import { CAMERA_SIZE, readPortrait } from './scene.ts'
import { AT_REST, type Stance, USUAL } from './script.ts'

/** What the server asks of a movement (apps/server/src/capture-checks/rules.ts), and what we want beyond it to be on the safe side. */
const ASKED = { turn: 12, lookUp: 8, eyesShut: 0.35, closer: 1.15 }
const SPARE = 1.15
/** Vectors of one person are at least this near to each other. */
const SAME_PERSON = 0.5

const engine = createFaceEngine({ load: loadNetFromDisk() })
const addNoise = createNoise(1, 2.2)

const PORTRAITS = [
  { name: 'the drawn figure', file: FIGURE },
  { name: 'the baseline portrait', file: BASELINE_PORTRAIT },
]

for (const { name, file } of PORTRAITS) {
  const skip = existsSync(file) ? missingProgram('ffmpeg') : 'the portraits are not here: see README.md'
  describe(name, { skip }, () => {
    let puppet: Puppet
    let rest: SeenFace
    let frontal: Float32Array

    before(async () => {
      const portrait = await readPortrait(file)
      puppet = createPuppet(portrait.picture, { mesh: portrait.mesh, size: CAMERA_SIZE })
      rest = (await seen({})).face
      const { face } = await lookAt(portrait.picture)
      frontal = await engine.embedFace(portrait.picture, face, 'FACE3_3')
    })

    async function seen(stance: Partial<Stance>): Promise<{ picture: Picture; face: SeenFace }> {
      const picture = puppet.draw({ ...AT_REST, ...stance })
      for (let channel = 0; channel < 3; channel++) addNoise(picture.data.subarray(channel), 4, channel)
      return lookAt(picture)
    }

    test('at rest it is well placed and looks into the camera', () => {
      assert.ok(rest.size > 0.25 && rest.size < 0.4, `size ${rest.size}`)
      assert.ok(Math.abs(rest.pose.yaw) < 8, `yaw ${rest.pose.yaw}`)
      assert.ok(rest.eyes > 0.7, `eyes ${rest.eyes}`)
    })

    test('it turns to its left and to its right, and stays the same person', async () => {
      const { amount } = USUAL.turn_left
      for (const sign of [1, -1]) {
        const { picture, face } = await seen({ yaw: sign * amount })
        const turned = sign * (face.pose.yaw - rest.pose.yaw)
        assert.ok(turned > ASKED.turn * SPARE, `${turned} degrees`)
        // Nobody asked it to look up meanwhile.
        assert.ok(face.pose.pitch - rest.pose.pitch < ASKED.lookUp)
        const likeness = cosine(frontal, await engine.embedFace(picture, face, 'FACE3_3'))
        assert.ok(likeness >= SAME_PERSON, `cosine ${likeness}`)
      }
    })

    test('it looks up', async () => {
      const { face } = await seen({ pitch: USUAL.look_up.amount })
      const raised = face.pose.pitch - rest.pose.pitch
      assert.ok(raised > ASKED.lookUp * SPARE, `${raised} degrees`)
      assert.ok(Math.abs(face.pose.yaw - rest.pose.yaw) < ASKED.turn / 2)
    })

    test('it shuts its eyes', async () => {
      const { face } = await seen({ eyes: USUAL.blink.amount })
      assert.ok(face.eyes * SPARE < rest.eyes * ASKED.eyesShut, `${face.eyes} of ${rest.eyes}`)
    })

    test('it comes closer', async () => {
      const { face } = await seen({ zoom: USUAL.closer.amount })
      assert.ok(face.size > rest.size * ASKED.closer * 1.05, `${face.size} of ${rest.size}`)
    })
  })
}

async function lookAt(picture: Picture): Promise<{ picture: Picture; face: SeenFace }> {
  engine.begin()
  const { face } = await engine.look(picture)
  assert.ok(face, 'a face is found')
  return { picture, face }
}
