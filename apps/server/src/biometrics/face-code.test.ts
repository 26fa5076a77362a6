import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { codeOf, readMiddle, sieveFor } from './face-code.ts'
import { BUILT_IN_MODELS } from './models.ts'
import { createFaces } from './testing/faces.ts'
import { createRotation, normalise, ROTATION_BYTES, SEARCH_DIMENSION, toHalfvec } from './vector.ts'
import { isCovered } from './vector-search.ts'

const PEOPLE = 1_000
const PROBES = 100
// 50 of a million lie so many standard deviations below the mean.
const NEAREST_OF_A_MILLION = 3.89

const faces = createFaces(570)
const secret = Buffer.concat([1, 2, 3, 4, 5, 6].map((n) => createHash('sha256').update(String(n)).digest()))
const rotate = createRotation(secret.subarray(0, ROTATION_BYTES))
const embed = (face: readonly number[]) => toHalfvec(rotate(normalise(face) ?? new Float64Array()))

/**
 * How far below the strangers' distances that of the right person is, in their standard deviations: the least of all probes. Pictures are
 * hardly recognised: they have `cosine` to the enrolled one.
 */
function leastMargin(people: readonly (readonly number[])[], cosine: number, middle: Float64Array): number {
  const codes = people.map((face) => codeOf(embed(face), middle))
  const margins = people.slice(0, PROBES).map((face, person) => {
    const probe = codeOf(embed(faces.sample(face, cosine)), middle)
    const distances = codes.map((code) => distance(code, probe))
    const mean = distances.reduce((sum, one) => sum + one, 0) / distances.length
    const variance = distances.reduce((sum, one) => sum + (one - mean) ** 2, 0) / distances.length
    return (mean - (distances[person] ?? 0)) / Math.sqrt(variance)
  })
  return Math.min(...margins)
}

const BITS_OF = Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)
const distance = (a: Uint8Array, b: Uint8Array) =>
  a.reduce((sum, byte, i) => sum + (BITS_OF[byte ^ (b[i] ?? 0)] ?? 0), 0)

function middleOf(people: readonly (readonly number[])[]): Float64Array {
  const rotated = people.slice(0, 2_000).map((face) => rotate(normalise(face) ?? new Float64Array()))
  return Float64Array.from({ length: SEARCH_DIMENSION }, (_, i) => {
    return Math.f16round(rotated.reduce((sum, vector) => sum + (vector[i] ?? 0), 0) / rotated.length)
  })
}

test('a face at the threshold of its model is among the nearest codes of a million', () => {
  const people = Array.from({ length: PEOPLE }, () => faces.person('FACE3_3'))
  const { identifyMin } = BUILT_IN_MODELS.FACE3_3
  assert.ok(leastMargin(people, identifyMin, middleOf(people)) > NEAREST_OF_A_MILLION)
})

test('so it is where a model gathers all faces in a narrow cone, thanks to the middle', () => {
  const axis = faces.person('FACE3_1')
  // Two people then have a cosine around 0.88, as strangers have in this model.
  const people = Array.from({ length: PEOPLE }, () => faces.sample(axis, 0.94))
  const { identifyMin } = BUILT_IN_MODELS.FACE3_1
  assert.ok(leastMargin(people, identifyMin, middleOf(people)) > NEAREST_OF_A_MILLION)
  assert.ok(leastMargin(people, identifyMin, new Float64Array(SEARCH_DIMENSION)) < NEAREST_OF_A_MILLION)
})

test('a middle that PostgreSQL wrote is read as the half-precision numbers that it has', () => {
  assert.deepEqual([...readMiddle('[0.099975586,-1,0]')], [0.0999755859375, -1, 0])
})

test('an answer covers the space only with every vector that is newer than the codes', () => {
  assert.equal(isCovered(1_000, 1_000), true)
  assert.equal(isCovered(3_000, 1_000), true)
  assert.equal(isCovered(3_001, 1_000), false, 'too many are newer')
  assert.equal(isCovered(999, 1_000), false, 'the database was restored')
})

test('the sieve lets pass what a model counts as a match, and few others', () => {
  const axis = faces.person('FACE3_1')
  const models = [
    { model: BUILT_IN_MODELS.FACE3_3, people: Array.from({ length: PEOPLE }, () => faces.person('FACE3_3')) },
    { model: BUILT_IN_MODELS.FACE3_1, people: Array.from({ length: PEOPLE }, () => faces.sample(axis, 0.94)) },
  ]
  for (const { model, people } of models) {
    const middle = middleOf(people)
    const sieve = sieveFor(model.identifyMin, middle, 3)
    const firstHalf = (face: readonly number[]) => codeOf(embed(face), middle).subarray(0, 32)
    const codes = people.map(firstHalf)
    const probes = people.slice(0, PROBES).map((face) => firstHalf(faces.sample(face, model.identifyMin)))
    const passes = (probe: Uint8Array, person: number) => distance(codes[person] ?? probe, probe) <= sieve
    assert.ok(probes.filter(passes).length >= PROBES * 0.98, model.version)
    const strangers = probes.flatMap((probe, n) => codes.filter((_, person) => person !== n && passes(probe, person)))
    assert.ok(strangers.length / (PROBES * (PEOPLE - 1)) < 0.02, model.version)
  }
})
