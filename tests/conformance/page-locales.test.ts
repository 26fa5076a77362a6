import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { LOCALES, PAGE_LOCALES } from '@ostiary/contract'
import { ROOT } from '@ostiary/testkit/run'

test('the languages that the service says the page has are those that it has texts in', () => {
  const inFolder = (folder: string) =>
    globSync(`${folder}/*.json`, { cwd: ROOT }).map((file) => basename(file, '.json'))
  const texts = inFolder('apps/launch/src/texts')
  assert.deepEqual(Object.keys(PAGE_LOCALES).sort(), texts.sort())
  assert.deepEqual(inFolder('apps/launch/src/texts/verification').sort(), texts, 'both for age checks and for the rest')
  const known: readonly string[] = LOCALES.map(({ tag }) => tag)
  for (const tag of texts) assert.ok(known.includes(tag), tag)
})
