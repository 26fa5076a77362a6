import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsOfDuration, timeOfMoment } from './expiry.ts'

test('a moment in UTC is parsed with and without fractions of a second', () => {
  const time = Date.UTC(2026, 0, 31, 12, 0, 5)
  assert.equal(timeOfMoment('2026-01-31T12:00:05Z'), time)
  assert.equal(timeOfMoment('2026-01-31T12:00:05.250Z'), time + 250)
  assert.equal(timeOfMoment('2026-01-31T12:00:05.2Z'), time + 200)
  assert.equal(timeOfMoment('2026-01-31T12:00:05+00:00'), time)
})

test('a moment that is not in UTC, incomplete or not in the calendar is refused', () => {
  for (const text of [
    '2026-01-31T12:00:05',
    '2026-01-31T12:00:05+01:00',
    '2026-01-31T12:00Z',
    '2026-01-31',
    '2026-02-30T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:60:00Z',
    '2026-01-31T23:59:60Z',
    ' 2026-01-31T12:00:05Z',
    '2026-01-31t12:00:05z',
    '1767225600',
    'tomorrow',
  ])
    assert.equal(timeOfMoment(text), undefined, text)
})

test('durations of weeks, days, hours, minutes and seconds are parsed', () => {
  for (const [text, seconds] of [
    ['PT15M', 900],
    ['PT90S', 90],
    ['PT1H', 3_600],
    ['PT1H30M', 5_400],
    ['P1D', 86_400],
    ['P1DT12H', 129_600],
    ['P1W', 604_800],
    ['PT0S', 0],
  ] as const)
    assert.equal(secondsOfDuration(text), seconds, text)
})

test('years, months, fractions of a second and texts that are not durations are refused', () => {
  for (const text of [
    'P1Y',
    'P1M',
    'PT1.5S',
    'P',
    'PT',
    'P1DT',
    '15M',
    'T15M',
    'PT15',
    'PT15M1H',
    '-PT15M',
    'P1W1D',
    '',
  ])
    assert.equal(secondsOfDuration(text), undefined, text)
})
