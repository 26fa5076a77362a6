import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Declaration, isSame, readDeclaration } from './declaration.ts'
import { scoreOf, THRESHOLDS } from './models.ts'

const GIVEN: Declaration = { name: 'OURS_2', length: 256, threshold: 0.4, slope: 20 }

test('what is not given follows from threshold and slope: near at a score of 0.2, consistent at 0.25', () => {
  const model = readDeclaration(GIVEN)
  assert.deepEqual(model, {
    version: 'OURS_2',
    dimension: 256,
    identifyMin: 0.4,
    duplicateMin: 0.4,
    slope: 20,
    nearMin: 0.3307,
    consistentMin: 0.3451,
    replayMin: 0.9999,
  })
  assert.ok(Math.abs(scoreOf(model, model.nearMin) - 0.2) < 0.001)
  assert.ok(Math.abs(scoreOf(model, model.consistentMin) - 0.25) < 0.001)
  assert.equal(readDeclaration({ ...GIVEN, threshold: 0.05, slope: 2 }).nearMin, 0, 'never below a right angle')
})

test('the rule comes close to what was measured for the built-in models', () => {
  for (const version of ['FACE3_1', 'FACE3_3'] as const) {
    const { identifyMin, slope, nearMin, consistentMin } = THRESHOLDS[version]
    const derived = readDeclaration({ ...GIVEN, threshold: identifyMin, slope })
    assert.ok(Math.abs(derived.nearMin - nearMin) < 0.004)
    assert.ok(Math.abs(derived.consistentMin - consistentMin) < 0.004)
  }
})

test('what is given is taken', () => {
  const { nearMin, consistentMin, replayMin } = readDeclaration({ ...GIVEN, near: 0.1, consistent: 0.4, replay: 0.99 })
  assert.deepEqual([nearMin, consistentMin, replayMin], [0.1, 0.4, 0.99])
})

test('every length from 128 to 512 can be declared, and no other', () => {
  for (let length = 128; length <= 512; length++) assert.equal(readDeclaration({ ...GIVEN, length }).dimension, length)
  for (const length of [0, 127, 513, 256.5, Number.NaN]) {
    assert.throws(() => readDeclaration({ ...GIVEN, length }), /\/length must be a whole number from 128 to 512/)
  }
})

test('names', () => {
  for (const name of ['a', '_', '512', 'Ours_v2', 'x'.repeat(32), 'FACE3', 'MY_FACE3_1']) {
    assert.equal(readDeclaration({ ...GIVEN, name }).version, name)
  }
  for (const name of ['', 'x'.repeat(33), 'a-b', 'a/b', 'a.b', 'ä', 'a b', 'a\n']) {
    assert.throws(() => readDeclaration({ ...GIVEN, name }), /\/name must have 1 to 32 letters, digits and underscores/)
  }
  for (const name of ['FACE3_1', 'FACE3_3', 'FACE3_', 'face3_9', 'Face3_ours']) {
    assert.throws(() => readDeclaration({ ...GIVEN, name }), /\/name must not begin with FACE3_/)
  }
})

test('numbers that mean nothing are refused', () => {
  const cases: [Partial<Declaration>, RegExp][] = [
    [{ threshold: 0 }, /\/threshold must be a number from 0.01 to 0.999/],
    [{ threshold: 1 }, /\/threshold/],
    [{ threshold: Number.NaN }, /\/threshold/],
    [{ slope: 0.9 }, /\/slope must be a number from 1 to 10000/],
    [{ slope: Number.POSITIVE_INFINITY }, /\/slope/],
    [{ near: 0.41 }, /\/near must be a number from 0 to 0.4/],
    [{ consistent: -0.1 }, /\/consistent must be a number from 0 to 0.4/],
    [{ replay: 0.39 }, /\/replay must be a number from 0.4 to 0.99999/],
    [{ replay: 1 }, /\/replay/],
  ]
  for (const [change, message] of cases) assert.throws(() => readDeclaration({ ...GIVEN, ...change }), message)
})

test('two declarations are the same when all their numbers are', () => {
  assert.ok(isSame(readDeclaration(GIVEN), readDeclaration({ ...GIVEN, replay: 0.9999 })))
  for (const change of [
    { length: 255 },
    { threshold: 0.41 },
    { slope: 21 },
    { near: 0.3 },
    { consistent: 0.3 },
    { replay: 0.999 },
  ]) {
    assert.ok(!isSame(readDeclaration(GIVEN), readDeclaration({ ...GIVEN, ...change })))
  }
})
