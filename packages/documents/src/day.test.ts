import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, addYears, ageOn, daysBetween, isDay, toDay } from './day.ts'

test('days that the calendar lacks are not days', () => {
  assert.equal(toDay(2000, 2, 29), '2000-02-29')
  assert.equal(toDay(1900, 2, 29), undefined)
  assert.equal(toDay(2001, 2, 29), undefined)
  assert.equal(toDay(2001, 4, 31), undefined)
  assert.equal(toDay(2001, 13, 1), undefined)
  assert.equal(toDay(2001, 0, 1), undefined)
  assert.ok(isDay('2024-02-29'))
  for (const text of ['2023-02-29', '2024-2-9', '24-02-09', '2024-02-09T00:00', '']) assert.ok(!isDay(text), text)
})

test('counting days agrees with the calendar of the runtime over 300 years', () => {
  const start = Date.UTC(1850, 0, 1)
  for (let days = 0; days < 300 * 366; days += 1) {
    const expected = new Date(start + days * 86_400_000).toISOString().slice(0, 10)
    const found = addDays('1850-01-01', days)
    if (found !== expected || daysBetween('1850-01-01', expected) !== days) assert.equal(found, expected)
  }
  assert.equal(addDays('2024-03-01', -1), '2024-02-29')
  assert.equal(daysBetween('2026-11-17', '2026-11-16'), -1)
})

test('a person becomes a year older on the birthday, not a day before', () => {
  assert.equal(ageOn('2026-11-17', '2008-11-17'), 18)
  const dayBefore = ageOn('2026-11-16', '2008-11-17')
  assert.ok(dayBefore < 18 && dayBefore > 17.99)
  assert.equal(ageOn('2008-11-17', '2008-11-17'), 0)
  assert.ok(ageOn('2008-11-16', '2008-11-17') < 0)
})

test('who was born on 29 February becomes a year older on 1 March of other years', () => {
  assert.ok(ageOn('2026-02-28', '2008-02-29') < 18)
  assert.equal(ageOn('2026-03-01', '2008-02-29'), 18)
  assert.ok(ageOn('2024-02-28', '2004-02-29') < 20)
  assert.equal(ageOn('2024-02-29', '2004-02-29'), 20)
  assert.equal(addYears('2004-02-29', 1), '2005-03-01')
})

test('the age rises every day and never jumps past a birthday', () => {
  for (const birth of ['2004-02-29', '2004-03-01', '2003-12-31', '2004-01-01']) {
    let last = -1
    for (let day = birth; day < '2013-01-01'; day = addDays(day, 1)) {
      const age = ageOn(day, birth)
      assert.ok(age > last && age - Math.max(0, last) < 1 / 364, `${birth} ${day}`)
      last = age
    }
  }
})
