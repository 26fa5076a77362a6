import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture } from '@ostiary/faces'
import { paintLids } from './lids.ts'
import { drawnFace } from './testing/drawn-face.ts'

const { picture: face, mesh } = drawnFace()

function withEyes(eyes: number): Picture {
  const target = { ...face, data: new Uint8ClampedArray(face.data) }
  paintLids(target, { face, mesh, eyes })
  return target
}

/** How many pixels of a picture are as white as an eye, or as dark as its middle. */
function eyePixels({ data }: Picture): { white: number; dark: number } {
  let [white, dark] = [0, 0]
  for (let at = 0; at < data.length; at += 4) {
    if ((data[at + 2] ?? 0) > 215) white++
    if ((data[at] ?? 0) < 45) dark++
  }
  return { white, dark }
}

test('open eyes are left as they are', () => {
  assert.deepEqual(withEyes(1).data, face.data)
})

test('of shut eyes next to nothing is seen', () => {
  const open = eyePixels(face)
  const shut = eyePixels(withEyes(0))
  assert.ok(open.white > 200 && open.dark > 60, `${open.white} white and ${open.dark} dark pixels to begin with`)
  assert.ok(shut.white <= 2, `${shut.white} white pixels`)
  assert.equal(shut.dark, 0)
})

test('the further the eyes close, the less is seen of them', () => {
  const whites = [1, 0.75, 0.5, 0.25, 0].map((eyes) => eyePixels(withEyes(eyes)).white)
  assert.deepEqual(
    whites,
    whites.toSorted((a, b) => b - a),
  )
  assert.equal(new Set(whites).size, whites.length)
})

test('where shut lids meet there is a line darker than the skin around it', () => {
  const shut = withEyes(0)
  const column = Math.round(mesh[159 * 3] ?? 0)
  const [top, bottom] = [Math.round(mesh[159 * 3 + 1] ?? 0), Math.round(mesh[145 * 3 + 1] ?? 0)]
  const reds = Array.from(
    { length: bottom - top + 8 },
    (_, row) => shut.data[((top - 4 + row) * face.width + column) * 4] ?? 0,
  )
  assert.ok(Math.min(...reds) < 0.6 * Math.max(...reds), `between ${Math.min(...reds)} and ${Math.max(...reds)}`)
})

test('nothing changes away from the eyes', () => {
  const shut = withEyes(0)
  const below = Math.round(face.height / 2 + 20) * face.width * 4
  assert.deepEqual(shut.data.subarray(below), face.data.subarray(below))
})
