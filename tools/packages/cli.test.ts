import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { VERSION } from '@ostiary/contract/version'
import { makeCli } from './cli.ts'

/** As npm unpacks it: outside of the checkout, so that it finds nothing of ours. */
const folder = mkdtempSync(join(tmpdir(), 'ostiary-cli-'))
const cli = await makeCli()
for (const [path, content] of Object.entries(cli.files)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
after(() => rmSync(folder, { recursive: true }))

function ostiary(...args: string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/ostiary.js'), ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('it has the version of the API, one command and no dependencies', () => {
  const manifest = JSON.parse(String(cli.files['package.json']))
  assert.equal(manifest.version, VERSION)
  assert.deepEqual(manifest.bin, { ostiary: './bin/ostiary.js' })
  assert.ok(String(cli.files['bin/ostiary.js']).startsWith('#!/usr/bin/env node\n'))
  for (const key of ['dependencies', 'optionalDependencies', 'scripts', 'private'])
    assert.equal(manifest[key], undefined, key)
})

test('nothing of the server or the key holder is in it, and no test', () => {
  assert.ok(cli.modules.some((id) => id.endsWith('/apps/cli/src/commands/screen.ts')))
  assert.deepEqual(
    cli.modules.filter((id) =>
      /\/apps\/(server|key-holder|launch)\/|\.test\.ts$|\/testing\/|\/node_modules\/pg/.test(id),
    ),
    [],
  )
})

test('its help names the commands, and those of a service show their options', () => {
  const { status, stdout } = ostiary('help')
  assert.equal(status, 0)
  for (const name of ['screen', 'simulate', 'keys']) assert.match(stdout, new RegExp(`\\b${name}\\b`))
  assert.match(ostiary('screen', '--help').stdout, /--dataset/)
  assert.equal(ostiary('--version').stdout, `${VERSION}\n`)
})

test('a command that calls a service has the SDK, which checks the key first', () => {
  const { status, stderr } = ostiary('exceptions', 'list', '--url', 'http://127.0.0.1:1', '--key', 'x')
  assert.equal(status, 2, stderr)
  assert.match(stderr, /not an Ostiary API key/)
})

test('a command that needs the machine says where it runs, and ends with 2', () => {
  const answer = '"ostiary keys create" runs on the installation’s machine: npm run ostiary -- keys create'
  assert.deepEqual(ostiary('keys', 'create', '--tenant', 'fjord', '--live'), {
    status: 2,
    stdout: '',
    stderr: `${answer}\n`,
  })
  assert.deepEqual(JSON.parse(ostiary('keys', 'create', '--json').stderr), { error: { message: answer, exitCode: 2 } })
  assert.equal(ostiary('doctor').status, 2)
  const help = ostiary('keys', 'create', '--help')
  assert.equal(help.status, 0)
  assert.ok(help.stdout.includes(answer))
})
