import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { runCli } from './cli.ts'

async function refused(line: string, expected = 2): Promise<string> {
  const err: string[] = []
  const code = await runCli(
    line.split(' '),
    {},
    {
      out: () => assert.fail('what is not understood is no output'),
      err: (text) => err.push(text),
      isInteractive: false,
      progress: () => {},
    },
  )
  assert.equal(code, expected, line)
  return err.join('\n')
}

test('what was not understood is said in our words, with at most three lines of help below it', async () => {
  const usage = 'ostiary tenants create <name> [--bucket <0-1023>] [--json]'
  assert.equal(await refused('tenants create --name Other'), `Unknown option '--name'\n\n${usage}`)
  const help = 'ostiary simulate --help tells what it takes'
  for (const [line, message] of [
    ['--age abc', '--age must be a number of years from 1 to 120'],
    ['--age', '--age needs a value'],
    ['--age --json', '--age needs a value; if it begins with a dash: --age=-…'],
    ['--json=yes', '--json takes no value'],
    ['--help=yes', '--help takes no value'],
    ['-x', "Unknown option '-x'"],
  ]) {
    assert.equal(await refused(`simulate --create ${line}`), `${message}\n\n${help}`)
  }
})

test('a command that there is not names those that begin alike, and not all', async () => {
  assert.equal(
    await refused('keys remove'),
    'There is no command "keys remove". After "ostiary keys" comes create, list, rotate, revoke.',
  )
  assert.equal(await refused('nonsense'), 'There is no command "nonsense". "ostiary help" names all.')
})

test('a folder in the place of a file is called one', async () => {
  const folder = tmpdir()
  const said = `Failed: ${folder} is a folder: name the file`
  assert.equal(await refused(`screen ${folder} --dataset demo`, 1), `${said} in it`)
  assert.equal(await refused(`datasets import staff ${folder}`, 1), `${said}s of the list`)
})
