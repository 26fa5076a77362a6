import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AGEABLE, isAgeable } from './ageable.ts'
import { createGuide, guidanceFor } from './guidance.ts'
import { ovalFor } from './oval.ts'
import type { Covered, Guidance, Pose, Quality, SeenFace, Sighting } from './types.ts'

const [WIDTH, HEIGHT] = [640, 480]
const oval = ovalFor(WIDTH, HEIGHT)

interface Differently {
  /** Relative to the oval: positions in its half axes, widths in its width. */
  right?: number
  down?: number
  width?: number
  pose?: Partial<Pose>
  quality?: Partial<Quality>
  eyes?: number
  covered?: Covered
}

function face({ right = 0, down = 0, width = 0.8, pose, quality, eyes = 1, covered }: Differently = {}): SeenFace {
  const wide = width * 2 * oval.rx
  const high = wide * 1.2
  return {
    mesh: new Float32Array(),
    box: { x: oval.x + right * oval.rx - wide / 2, y: oval.y + down * oval.ry - high / 2, width: wide, height: high },
    pose: { yaw: 0, pitch: 0, roll: 0, ...pose },
    eyes,
    size: wide / WIDTH,
    quality: {
      score: 1,
      sharpness: 1,
      brightness: 0.5,
      signal: 0.4,
      contrast: 1,
      backlight: 1,
      frontal: 1,
      size: 1,
      ...quality,
    },
    covered: covered ?? null,
  }
}

const one = (differently?: Differently): Sighting => ({ faces: 1, face: face(differently) })
const NOBODY: Sighting = { faces: 0, face: null }

const CASES: readonly (readonly [Guidance, string, Sighting])[] = [
  ['in_oval', 'a face that is well placed', one()],
  ['no_face', 'nobody', NOBODY],
  ['one_face_only', 'two people', { faces: 2, face: face() }],
  ['too_dark', 'a dark face', one({ quality: { signal: 0.08 } })],
  ['too_bright', 'a glaring face', one({ quality: { brightness: 0.95 } })],
  ['backlit', 'a face before a window', one({ quality: { brightness: 0.25, backlight: 0.2 } })],
  ['too_far', 'a small face', one({ width: 0.4 })],
  ['too_close', 'a large face', one({ width: 1.2 })],
  ['move_right', 'a face on the right of the picture, which is the person on their left', one({ right: 0.5 })],
  ['move_left', 'a face on the left of the picture', one({ right: -0.5 })],
  ['move_up', 'a face too low', one({ down: 0.5 })],
  ['move_down', 'a face too high', one({ down: -0.5 })],
  ['tilt_right', 'a head that leans to its left shoulder', one({ pose: { roll: 20 } })],
  ['tilt_left', 'a head that leans to its right shoulder', one({ pose: { roll: -20 } })],
  ['look_straight', 'a head that is turned', one({ pose: { yaw: -25 } })],
  ['look_straight', 'a head that looks down', one({ pose: { pitch: -30 } })],
  ['eyes_closed', 'shut eyes', one({ eyes: 0.1 })],
  ['eyes_hidden', 'dark glasses', one({ covered: 'eyes' })],
  ['remove_mask', 'a mask', one({ covered: 'mouth' })],
  ['in_oval', 'dark skin in good light', one({ quality: { brightness: 0.12 } })],
  ['blurry', 'a blurred face', one({ quality: { sharpness: 0.1 } })],
]

for (const [code, what, sighting] of CASES)
  test(`${what}: ${code}`, () => {
    assert.equal(guidanceFor(sighting, { oval }), code)
  })

test('a face that moves is asked to hold still', () => {
  assert.equal(guidanceFor(one(), { oval, moved: 0.8 }), 'hold_still')
})

test('of several things the light comes before the distance, and the distance before the pose', () => {
  const dark = one({ quality: { signal: 0.08 }, width: 0.4, pose: { yaw: 30 } })
  assert.equal(guidanceFor(dark, { oval }), 'too_dark')
  assert.equal(guidanceFor(one({ width: 0.4, pose: { yaw: 30 } }), { oval }), 'too_far')
})

test('a well placed face may move a little beyond the limit, any other must come a little within it', () => {
  const justFar = one({ width: 0.52 })
  assert.equal(guidanceFor(justFar, { oval }), 'too_far')
  assert.equal(guidanceFor(justFar, { oval, was: 'in_oval' }), 'in_oval')
  const justNear = one({ width: 0.58 })
  assert.equal(guidanceFor(justNear, { oval }), 'in_oval')
  assert.equal(guidanceFor(justNear, { oval, was: 'too_far' }), 'too_far')
})

test('a face that is called well placed gets an age, also where the tolerance keeps it there', () => {
  const steps = (from: number, to: number) => Array.from({ length: 9 }, (_, n) => from + ((to - from) * n) / 8)
  for (const was of [undefined, 'in_oval'] as const)
    for (const yaw of steps(-22, 22))
      for (const eyes of steps(0.04, 0.3))
        for (const score of steps(0.2, 0.6)) {
          const seen = face({ pose: { yaw }, eyes, quality: { score } })
          if (guidanceFor({ faces: 1, face: seen }, { oval, was }) === 'in_oval')
            assert.ok(isAgeable(seen), JSON.stringify({ was, yaw, eyes, score }))
        }
})

test('a face that is well placed by the tolerance alone is still ageable', () => {
  const turned = face({ pose: { yaw: AGEABLE.yawMax - 0.1 } })
  assert.equal(guidanceFor({ faces: 1, face: turned }, { oval }), 'look_straight')
  assert.equal(guidanceFor({ faces: 1, face: turned }, { oval, was: 'in_oval' }), 'in_oval')
  assert.ok(isAgeable(turned))
})

test('many small faults without a great one: the gravest is named', () => {
  const poor = { score: 0.3, sharpness: 0.7, frontal: 0.6, contrast: 0.9 }
  assert.equal(guidanceFor(one({ quality: poor }), { oval }), 'look_straight')
  assert.equal(guidanceFor(one({ quality: { ...poor, sharpness: 0.5 } }), { oval }), 'blurry')
})

test('the oval fits into pictures of every shape', () => {
  for (const [width, height] of [
    [640, 480],
    [480, 640],
    [1280, 720],
    [720, 1280],
    [400, 400],
  ] as const) {
    const { x, y, rx, ry } = ovalFor(width, height)
    assert.ok(x - rx > 0 && x + rx < width && y - ry > 0 && y + ry < height, `${width} x ${height}`)
    assert.ok(ry > rx)
  }
})

/** One picture every `stepMs`; what was said at each. */
function follow(sightings: readonly Sighting[], stepMs = 100): Guidance[] {
  const guide = createGuide({ width: WIDTH, height: HEIGHT })
  return sightings.map((sighting, index) => guide.next(sighting, index * stepMs))
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

test('the first face is answered at once', () => {
  assert.deepEqual(follow([NOBODY, one()]), ['no_face', 'in_oval'])
})

test('one poor picture among good ones changes nothing', () => {
  const pictures = [...times(4, one()), one({ quality: { sharpness: 0 } }), ...times(3, one())]
  assert.deepEqual(follow(pictures), times(8, 'in_oval'))
})

test('a lasting problem is reported after a quarter of a second', () => {
  const said = follow([...times(3, one()), ...times(5, one({ width: 0.3 }))])
  assert.deepEqual(said, [...times(6, 'in_oval'), ...times(2, 'too_far')])
})

test('a blink is not called closed eyes, but eyes that stay shut are', () => {
  const shut = one({ eyes: 0.02 })
  assert.ok(!follow([one(), ...times(5, shut), one(), one()]).includes('eyes_closed'))
  assert.equal(follow([one(), ...times(9, shut)]).at(-1), 'eyes_closed')
})

test('a face that moves around a limit does not make the text flicker', () => {
  const dancing = Array.from({ length: 40 }, (_, n) => one({ width: n % 2 === 0 ? 0.54 : 0.57 }))
  const said = follow(dancing)
  const changes = said.filter((code, index) => index > 0 && code !== said[index - 1]).length
  assert.ok(changes <= 1, said.join())
})

test('a face that drifts through the oval is asked to hold still', () => {
  const moving = Array.from({ length: 7 }, (_, n) => one({ right: -0.34 + n * 0.11 }))
  assert.equal(follow(moving).at(-1), 'hold_still')
})

test('a picture that is turned round turns the oval with it', () => {
  const camera = { width: HEIGHT, height: WIDTH }
  const guide = createGuide(camera)
  assert.equal(guide.next(one(), 0), 'move_right')
  Object.assign(camera, { width: WIDTH, height: HEIGHT })
  guide.next(one(), 100)
  assert.equal(guide.next(one(), 400), 'in_oval')
})
