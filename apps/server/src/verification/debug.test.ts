import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DebugEntry, VERIFICATION_LIMITS } from '@ostiary/contract'
import { withNote } from './debug.ts'

const at = new Date('2026-03-01T10:00:00Z')

test('[D-026] each level includes the notes of the level below: level 3 is the most verbose', () => {
  const notes = ([1, 2, 3] as const).map((level) => ({ at, level, event: `of level ${level}` }))
  const eventsAt = (debugLevel: 0 | 1 | 2 | 3) =>
    notes.reduce<DebugEntry[]>((entries, note) => withNote(entries, { debugLevel }, note), []).map(({ level }) => level)
  assert.deepEqual(eventsAt(0), [])
  assert.deepEqual(eventsAt(1), [1])
  assert.deepEqual(eventsAt(2), [1, 2])
  assert.deepEqual(eventsAt(3), [1, 2, 3])
})

test('a note has its time, level and text, and facts if there are any', () => {
  const asked = { debugLevel: 2 } as const
  assert.deepEqual(withNote([], asked, { at, level: 2, event: 'refused', facts: { code: -9 } }), [
    { at: '2026-03-01T10:00:00.000Z', level: 2, event: 'refused', facts: { code: -9 } },
  ])
  assert.deepEqual(withNote([], asked, { at, level: 1, event: 'opened' }), [
    { at: '2026-03-01T10:00:00.000Z', level: 1, event: 'opened' },
  ])
})

test('a very long list of notes keeps its beginning and its end', () => {
  let entries: DebugEntry[] = []
  const { debugEntries } = VERIFICATION_LIMITS
  for (let n = 0; n < debugEntries + 50; n++)
    entries = withNote(entries, { debugLevel: 1 }, { at, level: 1, event: `${n}` })
  assert.equal(entries.length, debugEntries)
  assert.deepEqual([entries[0]?.event, entries.at(-1)?.event], ['0', String(debugEntries + 49)])
})
