/** Signs and verifies as docs/releasing.md says, with a key made for this test. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'

const SIGN = 'ssh-keygen -Y sign -f release_key -n ostiary-release SHA256SUMS'
const VERIFY =
  'ssh-keygen -Y verify -f allowed_signers -I releases@ostiary.example -n ostiary-release -s SHA256SUMS.sig < SHA256SUMS'
const CHECK = 'sha256sum --check --strict SHA256SUMS'

const hasTools = spawnSync('/bin/sh', ['-c', 'command -v ssh-keygen && command -v sha256sum']).status === 0
const skip = hasTools ? false : 'ssh-keygen or sha256sum is not installed'

test('docs/releasing.md shows the commands of this test', () => {
  const lines = readFileSync(`${ROOT}docs/releasing.md`, 'utf8').split('\n')
  for (const command of [SIGN, VERIFY, CHECK]) assert.ok(lines.includes(command), command)
})

test('a signed release verifies, and a changed byte, another file or another key does not', { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-signing-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const shell = (command: string) => spawnSync('/bin/sh', ['-c', command], { cwd: folder, encoding: 'utf8' })
  const works = (command: string) => shell(command).status === 0
  const at = (name: string) => join(folder, name)
  const makeKey = (name: string) => {
    const options = ['-q', '-t', 'ed25519', '-N', '', '-C', 'releases@ostiary.example', '-f', at(name)]
    execFileSync('ssh-keygen', options)
    const [type, key] = readFileSync(at(`${name}.pub`), 'utf8').split(' ')
    return `releases@ostiary.example namespaces="ostiary-release" ${type} ${key}\n`
  }
  const ours = makeKey('release_key')
  const foreign = makeKey('foreign_key')
  writeFileSync(at('allowed_signers'), ours)
  writeFileSync(at('page-sha256sums.txt'), `${'5f'.repeat(32)}  index.html\n`)
  assert.ok(works('sha256sum page-sha256sums.txt > SHA256SUMS'))
  assert.ok(works(SIGN), shell(SIGN).stderr)
  assert.ok(works(VERIFY), shell(VERIFY).stderr)
  assert.ok(works(CHECK))

  const sums = readFileSync(at('SHA256SUMS'))
  const changed = Buffer.from(sums)
  changed[0] = (changed[0] ?? 0) ^ 1
  writeFileSync(at('SHA256SUMS'), changed)
  assert.ok(!works(VERIFY), 'one bit of the list is another')
  writeFileSync(at('SHA256SUMS'), sums)
  writeFileSync(at('page-sha256sums.txt'), `${'5e'.repeat(32)}  index.html\n`)
  assert.ok(works(VERIFY) && !works(CHECK), 'the list is signed, the file is another')

  writeFileSync(at('allowed_signers'), foreign)
  assert.ok(!works(VERIFY), 'signed by a key that nobody trusts')
  writeFileSync(at('allowed_signers'), ours)
  rmSync(at('SHA256SUMS.sig'))
  assert.ok(works(SIGN.replace('ostiary-release', 'other-purpose')))
  assert.ok(!works(VERIFY), 'signed for another purpose')
})
