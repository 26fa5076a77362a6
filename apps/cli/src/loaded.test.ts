import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Runs before the command line and prints, when it ends, every file that was loaded. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context) } })
  process.on('exit', () => process.stdout.write('\\nLOADED ' + JSON.stringify(urls)))
`)}`
const ROOT = new URL('../../../', import.meta.url).href

function filesLoadedBy(...args: string[]): string[] {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const output = execFileSync(process.execPath, ['--import', RECORDER, main, ...args], { encoding: 'utf8' })
  const urls: string[] = JSON.parse(output.split('\nLOADED ')[1] ?? '[]')
  return urls.filter((url) => url.startsWith('file:')).map((url) => url.slice(ROOT.length))
}

const OWN = [
  'main',
  'cli',
  'command',
  'commands',
  'failures',
  'help',
  'installation',
  'suggest',
  'terminal',
  'wait-line',
].map((name) => `apps/cli/src/${name}.ts`)

for (const args of [['help'], ['--version']]) {
  test(`${args.join(' ')} loads the table of contents alone: neither a command, nor the server, nor pg`, () => {
    assert.deepEqual(filesLoadedBy(...args).sort(), [...OWN, 'packages/contract/src/version.ts'].sort())
  })
}

test('a command that calls the API loads neither the server nor pg', () => {
  const loaded = filesLoadedBy('screen', '--help')
  assert.ok(loaded.includes('apps/cli/src/commands/screen.ts'))
  assert.deepEqual(
    loaded.filter((path) => path.startsWith('apps/server/') || path.includes('node_modules/pg/')),
    [],
  )
})
