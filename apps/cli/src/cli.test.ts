import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { runCli } from './cli.ts'
import { COMMANDS } from './commands.ts'
import type { Terminal } from './terminal.ts'
import { withWaitLine } from './wait-line.ts'

async function shown(line: string, columns?: number): Promise<string> {
  const out: string[] = []
  const terminal = { out: (text: string) => out.push(text), err: assert.fail, progress: () => {} }
  assert.equal(await runCli(line.split(' '), {}, { ...terminal, isInteractive: false, columns }), 0, line)
  return out.join('\n')
}

async function refused(line: string, expected = 2): Promise<string> {
  const err: string[] = []
  const code = await runCli(
    line.split(' '),
    {},
    {
      out: () => assert.fail('a usage error writes nothing to standard output'),
      err: (text) => err.push(text),
      isInteractive: false,
      progress: () => {},
    },
  )
  assert.equal(code, expected, line)
  return err.join('\n')
}

test('a usage error is explained in our words, with at most three lines of help below it', async () => {
  const usage = 'ostiary tenants create <name> [--bucket <0-1023>] [--json]'
  assert.equal(await refused('tenants create --name Other'), `Unknown option '--name'\n\n${usage}`)
  const help = 'ostiary simulate --help shows its options'
  for (const [line, message] of [
    ['--age abc', '--age must be a number of years from 1 to 120'],
    ['--age', '--age needs a value'],
    ['--age --cancel', '--age needs a value; if it begins with a dash: --age=-…'],
    ['--json=yes', '--json takes no value'],
    ['--help=yes', '--help takes no value'],
    ['-x', "Unknown option '-x'"],
    [
      '--document tampered --document-format AAMVA',
      '--document tampered needs check digits, and AAMVA has none: choose another --document-format',
    ],
    [
      '--document wrong-person --order alone',
      '--document wrong-person needs a face to compare with, and --order alone asks for none',
    ],
    [
      '--type ENROLL --document --order face-first',
      '--order is for age sessions; with --type ENROLL --document the face always comes first',
    ],
  ]) {
    assert.equal(await refused(`simulate --create ${line}`), `${message}\n\n${help}`)
  }
})

test('an unknown command gets the list of its group, not of all commands', async () => {
  assert.equal(
    await refused('keys burn'),
    'There is no command "keys burn". After "ostiary keys" comes create, list, rotate, revoke.',
  )
  assert.equal(await refused('nonsense'), 'There is no command "nonsense". "ostiary help" names all.')
})

test('every level has help, and a word that is close to a known one is suggested', async () => {
  for (const line of ['keys', 'keys --help', 'help keys', 'keys -h']) {
    assert.match(await shown(line), /^ {2}keys create {2}Make an API key[\s\S]*keys revoke[\s\S]*help keys <command>/)
  }
  assert.equal(await shown('help simulate'), await shown('simulate --help'))
  assert.equal(await shown('help keys create'), await shown('keys create --help'))
  assert.match(await shown('tenants hosts'), /^ {2}tenants hosts add/)
  for (const [typed, meant] of [
    ['kyes', 'keys'],
    ['help kyes', 'keys'],
    ['keys crate', 'keys create'],
    ['tenants hosts lits', 'tenants hosts list'],
    ['hlep', 'help'],
  ] as const) {
    assert.match(await refused(typed), new RegExp(`Did you mean ${meant}\\?$`))
  }
  assert.match(await refused('keys list --tenat x'), /^Unknown option '--tenat'\. Did you mean --tenant\?/)
})

test('with --json, help and refusals are JSON too', async () => {
  const commands = JSON.parse(await shown('help --json'))
  assert.deepEqual(
    commands.map(({ name }: { name: string }) => name),
    COMMANDS.map(({ name }) => name),
  )
  const { options } = JSON.parse(await shown('keys create --help --json'))
  assert.deepEqual(options.find(({ name }: { name: string }) => name === '--plan').values, [
    'standard',
    'plus',
    'unmetered',
  ])
  assert.deepEqual(JSON.parse(await refused('kyes --json')), {
    error: { message: 'There is no command "kyes". Did you mean keys?', exitCode: 2 },
  })
  assert.equal(JSON.parse(await refused('keys create --json')).error.message, 'Give either --test or --live')
  assert.match(JSON.parse(await refused('keys revoke x --json', 1)).error.message, /DATABASE_URL: is required/)
})

test('a screen too narrow for two columns gets one below the other', async () => {
  assert.match(await shown('keys', 40), /^ {2}keys create\n {6}Make an API key/)
})

test('the wait line appears after a second, only at a terminal, and leaves nothing behind', async () => {
  const written: string[] = []
  const terminal = {
    out: (text: string) => void written.push(`out ${text}`),
    err: () => {},
    isInteractive: true,
    progress: (text: string) => void written.push(`progress ${text}`),
    erase: () => void written.push('erase'),
  }
  const work = (asked: Terminal) => {
    const seen = Promise.withResolvers<void>()
    const timer = setInterval(() => (written.length > 0 || !asked.showsProgress) && seen.resolve(), 50)
    return seen.promise.then(() => {
      clearInterval(timer)
      asked.out('done')
    })
  }
  await withWaitLine({ ...terminal, showsProgress: true }, 'ostiary migrate', work)
  assert.deepEqual(written, ['progress ostiary migrate: 1 s', 'erase', 'out done'])
  written.length = 0
  await withWaitLine({ ...terminal, showsProgress: false }, 'ostiary migrate', work)
  assert.deepEqual(written, ['out done'])
})

test('a folder in the place of a file is reported as a folder', async () => {
  const folder = tmpdir()
  const said = `Failed: ${folder} is a folder: name the file`
  assert.equal(await refused(`screen ${folder} --dataset demo`, 1), `${said} in it`)
  assert.equal(await refused(`datasets import staff ${folder}`, 1), `${said}s of the list`)
})

test('docs/cli.md has a line for every command, and no other', () => {
  const document = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  const lines = [...document.matchAll(/^\| `ostiary ([^`]+)` \| (.+) \|$/gm)].map(
    ([, name, summary]) => `${name}: ${summary}`,
  )
  assert.deepEqual(lines.sort(), COMMANDS.map(({ name, summary }) => `${name}: ${summary}`).sort())
})
