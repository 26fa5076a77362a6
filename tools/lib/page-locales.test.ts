import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { LOCALES, PAGE_LOCALES } from '@ostiary/contract'
import { ROOT } from './run.ts'

test('the languages that the service says the page has are those that it has texts in', () => {
  const texts = globSync('apps/launch/src/texts/**/*.json', { cwd: ROOT }).map((file) => basename(file, '.json'))
  assert.deepEqual(Object.keys(PAGE_LOCALES).sort(), texts.sort())
  const known: readonly string[] = LOCALES.map(({ tag }) => tag)
  for (const tag of texts) assert.ok(known.includes(tag), tag)
})
