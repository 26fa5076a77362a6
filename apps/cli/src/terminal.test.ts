import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { letReadersLeave } from './terminal.ts'

const main = new URL('./main.ts', import.meta.url).pathname

/** Runs the CLI with a reader that closes the pipe before the first line, and prints the exit code. */
function cutOff(pipe: '|' | '2>&1 |', ...args: string[]) {
  const script = `"$0" "$@" ${pipe} { exec <&-; sleep 0.01; }; echo $PIPESTATUS`
  return spawnSync('bash', ['-c', script, process.execPath, main, ...args], { encoding: 'utf8' })
}

test('a closed pipe does not stop the command or change its exit code', () => {
  const listed = cutOff('|', 'risk', 'list')
  assert.deepEqual([listed.stdout, listed.stderr], ['0\n', ''])
  const refused = cutOff('2>&1 |', 'nonsense')
  assert.deepEqual([refused.stdout, refused.stderr], ['2\n', ''])
})

test('any other stream error is not ignored', () => {
  const stream = new PassThrough()
  letReadersLeave(stream)
  stream.emit('error', Object.assign(new Error('broken pipe'), { code: 'EPIPE' }))
  const full = Object.assign(new Error('disk full'), { code: 'ENOSPC' })
  assert.throws(() => stream.emit('error', full), full)
})
