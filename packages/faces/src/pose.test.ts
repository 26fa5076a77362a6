import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poseOf } from './pose.ts'
import type { Pose } from './types.ts'

/**
 * An artificial head: the mesh points that matter, in pixels, x to the right of the picture, y down, z away from the
 * camera. It is symmetric, and the pairs that give the pitch are vertical.
 */
const HEAD: Readonly<Record<number, readonly [number, number, number]>> = {
  10: [0, -90, 0],
  151: [0, -70, 0],
  9: [0, -50, 0],
  2: [0, 25, 0],
  0: [0, 40, 0],
  152: [0, 90, 0],
  33: [-45, -30, 0],
  263: [45, -30, 0],
  133: [-18, -30, 0],
  362: [18, -30, 0],
  61: [-25, 45, 0],
  291: [25, 45, 0],
  127: [-70, -30, 0],
  356: [70, -30, 0],
  234: [-72, 0, 0],
  454: [72, 0, 0],
  132: [-68, 25, 0],
  361: [68, 25, 0],
  50: [-40, 15, 0],
  280: [40, 15, 0],
  105: [-35, -50, 0],
  334: [35, -50, 0],
  172: [-55, 65, 0],
  397: [55, 65, 0],
  54: [-50, -75, 0],
  284: [50, -75, 0],
}

const RADIANS = Math.PI / 180

/** The head after it nodded, turned and leant, in this order. */
function head({ yaw, pitch, roll }: Pose): Float32Array {
  const mesh = new Float32Array(468 * 3)
  const [cy, sy] = [Math.cos(yaw * RADIANS), Math.sin(yaw * RADIANS)]
  const [cp, sp] = [Math.cos(pitch * RADIANS), Math.sin(pitch * RADIANS)]
  const [cr, sr] = [Math.cos(roll * RADIANS), Math.sin(roll * RADIANS)]
  for (const [index, [x, y, z]] of Object.entries(HEAD)) {
    // Looking up: what is above (y < 0) goes back (z > 0).
    const [y1, z1] = [y * cp + z * sp, -y * sp + z * cp]
    // To the person's own left, which is the right of the picture: that side goes back.
    const [x2, z2] = [x * cy - z1 * sy, x * sy + z1 * cy]
    // Towards their left shoulder: the right of the picture goes down.
    const [x3, y3] = [x2 * cr - y1 * sr, x2 * sr + y1 * cr]
    mesh.set([x3 + 320, y3 + 240, z2], Number(index) * 3)
  }
  return mesh
}

function assertPose(actual: Pose, expected: Pose): void {
  for (const key of ['yaw', 'pitch', 'roll'] as const)
    assert.ok(Math.abs(actual[key] - expected[key]) < 0.01, `${key} is ${actual[key]}, not ${expected[key]}`)
}

const REST = poseOf(head({ yaw: 0, pitch: 0, roll: 0 }))

test('a head that looks straight ahead is not turned', () => {
  assert.ok(Math.abs(REST.yaw) < 0.01)
  assert.ok(Math.abs(REST.roll) < 0.01)
})

test('a head turned to its own left has a positive yaw', () => {
  assertPose(poseOf(head({ yaw: 25, pitch: 0, roll: 0 })), { ...REST, yaw: 25 })
  assertPose(poseOf(head({ yaw: -40, pitch: 0, roll: 0 })), { ...REST, yaw: -40 })
})

test('a head that looks up has a positive pitch', () => {
  const up = poseOf(head({ yaw: 0, pitch: 15, roll: 0 }))
  assertPose(up, { ...REST, pitch: REST.pitch + 15 })
})

test('a head that leans to its left shoulder has a positive roll', () => {
  assertPose(poseOf(head({ yaw: 0, pitch: 0, roll: 12 })), { ...REST, roll: 12 })
})

test('yaw, pitch and roll are separated when they occur together', () => {
  for (const pose of [
    { yaw: 20, pitch: -10, roll: 8 },
    { yaw: -30, pitch: 12, roll: -15 },
    { yaw: 5, pitch: 25, roll: 20 },
  ])
    assertPose(poseOf(head(pose)), { ...pose, pitch: pose.pitch + REST.pitch })
})

test('how far away the head is makes no difference', () => {
  const pose = { yaw: 18, pitch: 7, roll: -4 }
  const far = head(pose).map((value) => value * 0.3)
  assertPose(poseOf(far), { ...pose, pitch: pose.pitch + REST.pitch })
})
