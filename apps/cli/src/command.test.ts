import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { fileAt } from './command.ts'
import { runQuietly } from './testing/run-quietly.ts'

const folder = temporaryFolder('cli-command')

/** The environment that `npm run ostiary` sets when it is called outside the root of the checkout. */
const byNpm = { npm_lifecycle_event: 'ostiary', INIT_CWD: folder }

const cli = (line: string, env: Record<string, string> = byNpm) => runQuietly(line.split(' '), env)

test('a path is relative to where `npm run ostiary` was called; without npm or in another script, to the working directory', () => {
  assert.equal(fileAt({ env: byNpm }, 'people.csv'), join(folder, 'people.csv'))
  assert.equal(fileAt({ env: byNpm }, '../people.csv'), join(tmpdir(), 'people.csv'))
  assert.equal(fileAt({ env: byNpm }, '/srv/people.csv'), '/srv/people.csv')
  assert.equal(fileAt({ env: { ...byNpm, INIT_CWD: process.cwd() } }, 'people.csv'), 'people.csv')
  assert.equal(fileAt({ env: { ...byNpm, npm_lifecycle_event: 'nightly' } }, 'people.csv'), 'people.csv')
  assert.equal(fileAt({ env: {} }, 'people.csv'), 'people.csv')
})

test('every command that takes a file finds it where npm was called', async () => {
  for (const name of ['settings.json', 'weights.json', 'key.jwk']) writeFileSync(join(folder, name), '{}')
  writeFileSync(join(folder, 'logo.svg'), '<svg/>')
  writeFileSync(join(folder, 'list.csv'), 'id,name\n1,Vardo Quellmar\n')
  assert.equal((await cli('risk explain BR_WEBGL --weights weights.json')).code, 0)
  const lists = { ...byNpm, SANCTIONS_DIR: join(folder, 'lists') }
  const imported = await cli('datasets import staff list.csv', lists)
  assert.equal(imported.code, 0, imported.err)
  const absent = join(folder, 'none.csv')
  assert.equal((await cli('screen none.csv --dataset demo')).err, `Failed: There is no file ${absent}`)
  const report = await cli('screen list.csv --dataset demo --csv list.csv')
  assert.match(report.err, new RegExp(`^${join(folder, 'list.csv')} would be overwritten`))
  // These commands read their files first and fail later, because there is no database.
  for (const line of [
    'tenants settings Fjord --file settings.json --logo logo.svg',
    'clients create --tenant Fjord --name signer --public-key key.jwk',
  ]) {
    const { code, err } = await cli(line)
    assert.equal(code, 1, err)
    assert.match(err, /DATABASE_URL: is required/)
  }
})
