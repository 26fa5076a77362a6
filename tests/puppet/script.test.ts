import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOVEMENTS } from '@ostiary/contract'
import { AT_REST, levelOf, type Script, stanceAt, USUAL } from './script.ts'
import { SCRIPTS } from './scripts.ts'

const still: Script = { durationMs: 10_000, moves: [] }

test('without moves the face has its natural stance', () => {
  assert.deepEqual(stanceAt(still, 500), AT_REST)
  assert.deepEqual(stanceAt(still, 500, { ...AT_REST, yaw: 1.5 }), { ...AT_REST, yaw: 1.5 })
})

test('a movement rises, holds and falls', () => {
  const move = { movement: 'turn_left', atMs: 1000, riseMs: 200, holdMs: 500, fallMs: 300 } as const
  assert.equal(levelOf(move, 1000), 0)
  assert.equal(levelOf(move, 1100), 0.5)
  assert.equal(levelOf(move, 1200), 1)
  assert.equal(levelOf(move, 1700), 1)
  assert.equal(levelOf(move, 1850), 0.5)
  assert.equal(levelOf(move, 2000), 0)
})

test('a movement without length is over as soon as it begins', () => {
  const move = { movement: 'blink', atMs: 100, riseMs: 0, holdMs: 0, fallMs: 0 } as const
  assert.deepEqual(
    [99, 100, 101].map((tMs) => levelOf(move, tMs)),
    [0, 1, 0],
  )
})

test('each movement changes its own number, with the signs of the pose', () => {
  const held = (movement: 'turn_left' | 'turn_right' | 'look_up' | 'blink' | 'closer') =>
    stanceAt({ ...still, moves: [{ movement, atMs: 0 }] }, USUAL[movement].riseMs + 10)
  assert.deepEqual(held('turn_left'), { ...AT_REST, yaw: USUAL.turn_left.amount })
  assert.deepEqual(held('turn_right'), { ...AT_REST, yaw: -USUAL.turn_right.amount })
  assert.deepEqual(held('look_up'), { ...AT_REST, pitch: USUAL.look_up.amount })
  assert.deepEqual(held('blink'), { ...AT_REST, eyes: 0 })
  assert.deepEqual(held('closer'), { ...AT_REST, zoom: USUAL.closer.amount })
})

test('the show makes every movement', () => {
  assert.deepEqual(
    SCRIPTS.show.moves.map(({ movement }) => movement),
    MOVEMENTS,
  )
})
