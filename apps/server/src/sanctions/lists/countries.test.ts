import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countriesCoded, countriesNamed } from './countries.ts'

test('names become codes where they have one, and stay words otherwise', () => {
  assert.deepEqual(
    countriesNamed(['Korea, North', 'TÜRKIYE', 'Region: Gaza', 'Freedonia', 'Democratic People’s Republic of Korea']),
    ['kp', 'tr', 'ps', 'freedonia', 'kp'],
  )
  assert.deepEqual(countriesNamed(['', '-0- ', 'na', 'undetermined', 'None Identified']), [])
})

test('codes stay codes', () => {
  assert.deepEqual(countriesCoded(['NA', 'de', ' Fr ', 'Germany', 'suhh', '']), ['na', 'de', 'fr', 'de', 'suhh'])
})
