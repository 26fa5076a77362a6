import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareMigrations, compatibleFrom, readMigrations, refuseForeign } from './migrate.ts'

const file = (name: string, checksum = 'c') => ({ name, text: '', checksum })

test('pending, unknown and edited migrations are distinguished', () => {
  const state = compareMigrations(
    [file('0001'), file('0002', 'new'), file('0004')],
    [file('0001'), file('0002', 'old'), file('0003')],
  )
  assert.deepEqual(state, {
    applied: ['0001', '0002', '0003'],
    pending: ['0004'],
    unknown: ['0003'],
    incompatible: ['0003'],
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

test('a newer migration is accepted when this release knows the one it is compatible down to', () => {
  const files = [file('0001_a.sql'), file('0002_b.sql')]
  const newer = (compatibleFrom: string | null) => [...files, { name: '0003_c.sql', checksum: 'c', compatibleFrom }]
  for (const mark of ['0000', '0001', '0002']) {
    const state = compareMigrations(files, newer(mark))
    assert.deepEqual([state.unknown, state.incompatible], [['0003_c.sql'], []])
    refuseForeign(state)
  }
  for (const mark of ['0003', null]) {
    const state = compareMigrations(files, newer(mark))
    assert.deepEqual(state.incompatible, ['0003_c.sql'])
    assert.throws(() => refuseForeign(state), /newer version \(0003_c.sql\), and 0003_c.sql cannot be used by this one/)
  }
  assert.throws(() => refuseForeign(compareMigrations([...files, file('0003_d.sql')], newer('0000'))), /another line/)
})

test('a migration is compatible with every release, unless it says otherwise', () => {
  assert.equal(compatibleFrom({ text: '-- Adds a table.\ncreate table a ();' }), '0000')
  assert.equal(compatibleFrom({ text: '-- Drops a view.\n-- Compatible down to: 0017\ndrop view a;' }), '0017')
  assert.equal(compatibleFrom({ text: "select '-- Compatible down to: 0017'" }), '0000')
})

test('the mark of a migration names itself or one before it', () => {
  const files = readMigrations()
  for (const { name, text } of files) {
    assert.ok(compatibleFrom({ text }) <= name.slice(0, 4), name)
    // A misspelled mark would be ignored.
    assert.equal(/compatible down/i.test(text), compatibleFrom({ text }) !== '0000', name)
  }
})

test('our migrations are numbered without gaps and say what they are for', () => {
  const files = readMigrations()
  files.forEach(({ name, text }, index) => {
    assert.match(name, new RegExp(`^${String(index + 1).padStart(4, '0')}_[a-z0-9_]+\\.sql$`))
    assert.match(text, /^-- [A-Z]/, `${name} starts with a sentence`)
  })
})
