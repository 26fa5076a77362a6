import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareMigrations, readMigrations, refuseForeign } from './migrate.ts'

const file = (name: string, checksum = 'c') => ({ name, text: '', checksum })

test('pending, unknown and edited migrations are told apart', () => {
  const state = compareMigrations(
    [file('0001'), file('0002', 'new'), file('0004')],
    [file('0001'), file('0002', 'old'), file('0003')],
  )
  assert.deepEqual(state, {
    applied: ['0001', '0002', '0003'],
    pending: ['0004'],
    unknown: ['0003'],
    changed: ['0002'],
  })
})

test('a newer database and an edited migration are refused', () => {
  assert.throws(
    () => refuseForeign(compareMigrations([], [file('0009_future.sql')])),
    /newer version \(0009_future.sql\)/,
  )
  assert.throws(() => refuseForeign(compareMigrations([file('a', 'x')], [file('a', 'y')])), /edited after/)
  refuseForeign(compareMigrations([file('a')], []))
})

test('our migrations are numbered without gaps and say what they are for', () => {
  const files = readMigrations()
  files.forEach(({ name, text }, index) => {
    assert.match(name, new RegExp(`^${String(index + 1).padStart(4, '0')}_[a-z0-9_]+\\.sql$`))
    assert.match(text, /^-- [A-Z]/, `${name} starts with a sentence`)
  })
})
