import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AT_REST, lengthOf, levelOf, parseScript, type Script, stanceAt, USUAL } from './script.ts'

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
  assert.equal(lengthOf(move), 1000)
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

test('somebody is there only in the times that the script gives', () => {
  const script: Script = { ...still, present: [{ fromMs: 2000, untilMs: 4000 }] }
  assert.deepEqual(
    [0, 2000, 3000, 4000, 9000].map((tMs) => stanceAt(script, tMs).presence),
    [0, 0, 1, 1, 0],
  )
  assert.equal(stanceAt({ ...still, present: [] }, 3000).presence, 0)
})

test('a script in a file is checked', () => {
  assert.deepEqual(parseScript('{"durationMs":1000,"moves":[{"movement":"blink","atMs":10}]}'), {
    durationMs: 1000,
    moves: [{ movement: 'blink', atMs: 10 }],
  })
  assert.throws(() => parseScript('{"durationMs":1000,"moves":[{"movement":"nod","atMs":10}]}'), /moves\/0\/movement/)
  assert.throws(() => parseScript('{"moves":[]}'), /This is no script/)
})
