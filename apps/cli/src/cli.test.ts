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
    ['--age --json', '--age needs a value; if it begins with a dash: --age=-…'],
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
    await refused('keys remove'),
    'There is no command "keys remove". After "ostiary keys" comes create, list, rotate, revoke.',
  )
  assert.equal(await refused('nonsense'), 'There is no command "nonsense". "ostiary help" names all.')
})

test('a folder in the place of a file is reported as a folder', async () => {
  const folder = tmpdir()
  const said = `Failed: ${folder} is a folder: name the file`
  assert.equal(await refused(`screen ${folder} --dataset demo`, 1), `${said} in it`)
  assert.equal(await refused(`datasets import staff ${folder}`, 1), `${said}s of the list`)
})
