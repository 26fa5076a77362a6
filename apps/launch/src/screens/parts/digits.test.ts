import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digitsOf } from './digits.ts'

test('two digits are kept, whatever stands around them', () => {
  assert.deepEqual(['47', ' 4 7 ', '4', '', 'no. 07', '478', '4-7'].map(digitsOf), [
    '47',
    '47',
    '4',
    '',
    '07',
    '47',
    '47',
  ])
})

test('the digits of other keyboards are the same digits', () => {
  assert.deepEqual(['٤٧', '۴۷', '４７', '٠٩', '۰۹'].map(digitsOf), ['47', '47', '47', '09', '09'])
})
