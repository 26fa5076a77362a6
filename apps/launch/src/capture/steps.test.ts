import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeenFace } from '@ostiary/faces'
import { createSteps } from './steps.ts'
import { createPerson, seeded } from './testing/person.ts'

const REST: SeenFace = {
  ...createPerson({ random: seeded(1) }).faceAt(0),
  pose: { yaw: 0, pitch: 0, roll: 0 },
  eyes: 0.8,
  size: 0.4,
}
const LEFT: SeenFace = { ...REST, pose: { yaw: 25, pitch: 0, roll: 0 } }
const SHUT: SeenFace = { ...REST, eyes: 0.05 }

const started = () => {
  const steps = createSteps(
    [
      { movement: 'turn_left', atMs: 1000 },
      { movement: 'blink', atMs: 3000 },
    ],
    [REST],
  )
  assert.equal(steps.show(1000), 1)
  return steps
}

test('movements are numbered in the order shown, and the last one shown is the current one', () => {
  const steps = started()
  assert.equal(steps.view().movement, 'turn_left')
  assert.equal(steps.show(3000), 2)
  assert.deepEqual(steps.view(), { movement: 'blink', movementsSeen: 0, movementsTotal: 2 })
})

test('a movement is seen once, in a picture that is later than a person’s reaction time', () => {
  const steps = started()
  assert.equal(steps.observe({ face: LEFT, atMs: 1150 }, 1250), undefined)
  assert.equal(steps.observe({ face: REST, atMs: 1300 }, 1400), undefined)
  assert.equal(steps.observe({ face: LEFT, atMs: 1500 }, 1600), 1)
  assert.equal(steps.observe({ face: LEFT, atMs: 1600 }, 1700), undefined)
})

test('a movement that comes late, or is noticed late, is not logged: the server would take it for fabricated', () => {
  assert.equal(started().observe({ face: LEFT, atMs: 3600 }, 3650), undefined)
  assert.equal(started().observe({ face: LEFT, atMs: 3400 }, 3950), undefined)
  assert.equal(started().observe({ face: LEFT, atMs: 3400 }, 3500), 1)
})

test('a late movement counts for its own request even if the next one is already shown', () => {
  const steps = started()
  steps.show(3000)
  assert.equal(steps.observe({ face: LEFT, atMs: 3300 }, 3400), 1)
  assert.equal(steps.observe({ face: SHUT, atMs: 3500 }, 3600), 2)
})

test('a movement is confirmed only when a sample was taken since: only samples are sent', () => {
  const steps = started()
  steps.sampled(1400)
  steps.observe({ face: LEFT, atMs: 1500 }, 1600)
  assert.deepEqual(steps.view(), { movement: 'turn_left', movementsSeen: 0, movementsTotal: 2 })
  steps.sampled(1700)
  assert.deepEqual(steps.view(), { movement: null, movementsSeen: 1, movementsTotal: 2 })
})

test('the page waits for the user from the request until the movement was seen, or until it is too late', () => {
  const steps = createSteps([{ movement: 'turn_left', atMs: 1000 }], [REST])
  assert.equal(steps.awaits(900), false)
  steps.show(1000)
  assert.equal(steps.awaits(1001), true)
  assert.equal(steps.awaits(3501), false)
  steps.observe({ face: LEFT, atMs: 1500 }, 1600)
  assert.equal(steps.awaits(1601), false)
})

test('faces seen before the first movement define the face at rest', () => {
  const steps = createSteps([{ movement: 'turn_left', atMs: 1000 }], [])
  for (const atMs of [200, 400, 600]) steps.observe({ face: LEFT, atMs }, atMs + 50)
  steps.show(1000)
  assert.equal(steps.observe({ face: LEFT, atMs: 1500 }, 1600), undefined)
})

test('without a face at rest no movement is seen', () => {
  const steps = createSteps([{ movement: 'turn_left', atMs: 1000 }], [])
  steps.show(1000)
  assert.equal(steps.observe({ face: LEFT, atMs: 1500 }, 1600), undefined)
})
