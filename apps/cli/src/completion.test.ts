import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { COMMANDS } from './commands.ts'
import { type Shell, scriptFor } from './completion/scripts.ts'
import { readCompletions } from './completion/words.ts'

const folder = temporaryFolder('completion')

const completions = await readCompletions(COMMANDS)
const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0
const missing = (shell: string) => (isThere(shell) ? false : `${shell} is not installed`)

function fileFor(shell: Shell): string {
  const file = join(folder, shell)
  writeFileSync(file, scriptFor(shell, completions))
  return file
}

const CASES: readonly [line: string, offered: readonly string[]][] = [
  ['ostiary ke', ['keys', 'key-holder']],
  ['ostiary keys ', ['create', 'list', 'rotate', 'revoke']],
  ['ostiary help keys r', ['rotate', 'revoke']],
  ['ostiary tenants hosts ', ['add', 'list', 'remove']],
  ['ostiary keys create --pl', ['--plan']],
  ['ostiary keys create --plan ', ['standard', 'plus', 'unmetered']],
  ['ostiary deliveries list --state d', ['delivered', 'dead']],
  ['ostiary trigger verification.', ['verification.succeeded', 'verification.failed']],
  ['ostiary completion ', ['bash', 'zsh', 'fish']],
]

test('every command and every option of it is offered', async () => {
  for (const { name, load } of COMMANDS) {
    const words = name.split(' ')
    assert.ok(completions.next.get(words.slice(0, -1).join(' '))?.includes(words.at(-1) ?? ''), name)
    const { options = {} } = await load()
    const expected = [...Object.keys(options), 'json', 'help'].map((option) => `--${option}`)
    assert.deepEqual([...new Set(completions.options.get(name))].sort(), [...new Set(expected)].sort(), name)
  }
})

test('bash offers them', { skip: missing('bash') }, () => {
  const file = fileFor('bash')
  for (const [line, offered] of CASES) {
    const words = line.split(' ')
    const list = words.map((word) => `'${word}'`).join(' ')
    const script = `source ${file}; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _ostiary; printf '%s\\n' "\${COMPREPLY[@]}"`
    const found = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).trim().split('\n')
    assert.deepEqual(found.sort(), [...offered].sort(), line)
  }
})

test('fish offers them', { skip: missing('fish') }, () => {
  const file = fileFor('fish')
  for (const [line, offered] of CASES) {
    const script = `source ${file}; complete -C '${line}'`
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
    const out = execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', env, cwd: folder })
    const found = out
      .trim()
      .split('\n')
      .map((found) => found.split('\t')[0] ?? '')
    for (const word of offered) assert.ok(found.includes(word), `${line}: ${found}`)
  }
})

test('zsh reads the script and offers them', { skip: missing('zsh') }, () => {
  const file = fileFor('zsh')
  for (const [line, offered] of CASES) {
    const words = line.split(' ')
    const list = words.map((word) => `'${word}'`).join(' ')
    const script = `compdef() { : }; compadd() { shift; print -l -- "$@" }; source ${file}; words=(${list}); CURRENT=${words.length}; _ostiary`
    const found = execFileSync('zsh', ['-f', '-c', script], { encoding: 'utf8' }).trim().split('\n')
    const typed = words.at(-1) ?? ''
    assert.deepEqual(found.filter((word) => word.startsWith(typed)).sort(), [...offered].sort(), line)
  }
})
