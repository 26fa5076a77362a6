import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MRZ_CHARACTERS } from '../types.ts'
import { lookAgain, type SeenLine } from './look-again.ts'
import { CLASSES, type Net } from './net.ts'

const TEXT = 'P<UTOOSKVAN<<YLORIL'.padEnd(44, '<')
const strip = { ink: new Float32Array(4), width: 2, height: 2, origin: { x: 0, y: 0 }, axis: { x: 1, y: 0 }, scale: 1 }
const grid = { x: [0, 18, 0], y: [20, 0, 0] } as const

function seen(doubts: Record<number, number> = {}): SeenLine {
  const certainties = Array.from(TEXT, (_, column) => doubts[column] ?? 0.99)
  return { strip, grid, first: 0, text: TEXT, certainties }
}

/** Says one character with one certainty in each look, about every cell that it is asked about. */
function saying(...looks: (readonly [character: string, certainty: number])[]) {
  const asked: number[] = []
  const net: Net = (_, count) => {
    const [character, certainty] = looks[asked.length] ?? ['<', 0]
    asked.push(count)
    const probabilities = new Float32Array(count * CLASSES)
    for (let cell = 0; cell < count; cell++) {
      probabilities.fill((1 - certainty) / (CLASSES - 1), cell * CLASSES, (cell + 1) * CLASSES)
      probabilities[cell * CLASSES + MRZ_CHARACTERS.indexOf(character)] = certainty
    }
    return { probabilities, offsets: new Float32Array(count * 2) }
  }
  return { net, asked }
}

test('only characters that are not quite certain are looked at again, four times each', () => {
  const { net, asked } = saying(['Y', 0.9], ['Y', 0.9], ['Y', 0.9], ['Y', 0.9])
  const { certainties, isSteady } = lookAgain(net, 'TD3', [seen({ 13: 0.7 })])
  assert.deepEqual(asked, [1, 1, 1, 1])
  assert.equal(isSteady, true)
  assert.equal(certainties[0]?.[12], 0.99)
  const mean = certainties[0]?.[13] ?? 0
  assert.ok(mean > 0.82 && mean < 0.87, `${mean} is not the mean of 0.7 and four times about 0.9`)
})

test('a character that one look takes for another is not steady, and less certain', () => {
  const { net } = saying(['Y', 0.9], ['Y', 0.9], ['T', 0.6], ['Y', 0.9])
  const { certainties, isSteady } = lookAgain(net, 'TD3', [seen({ 13: 0.9 })])
  assert.equal(isSteady, false)
  assert.ok((certainties[0]?.[13] ?? 1) < 0.8)
})

test('where every character is certain, no look is needed', () => {
  const { net, asked } = saying()
  assert.deepEqual(lookAgain(net, 'TD3', [seen()]), { certainties: [[...seen().certainties]], isSteady: true })
  assert.deepEqual(asked, [])
})
