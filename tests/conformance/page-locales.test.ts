import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { LOCALES } from '@ostiary/contract'
import { ROOT } from '@ostiary/testkit/run'

const tags = LOCALES.map(({ tag }) => tag).sort()
const filesOf = (folder: string, ending: string) =>
  globSync(`${folder}/*${ending}`, { cwd: ROOT }).map((file) => basename(file, ending))

test('[D-017] the page has texts in each of the 44 languages, for every kind of session', () => {
  assert.equal(tags.length, 44)
  for (const folder of ['', '/verification', '/token', '/documents'])
    assert.deepEqual(filesOf(`apps/launch/src/texts${folder}`, '.json').sort(), tags, folder)
})

test('each language has its guide: form of address, gender, glossary, and what a native reader should look at', () => {
  assert.deepEqual(filesOf('apps/launch/src/texts', '.md').sort(), tags)
})
