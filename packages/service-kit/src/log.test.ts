import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAllowListedLog, framesOf } from './log.ts'

test('a line has allowed fields alone, and of an error what describes it, however it is given', () => {
  const lines: Record<string, unknown>[] = []
  const log = createAllowListedLog({
    level: 'info',
    allowed: new Set(['job']),
    describeError: (error) => ({ errorType: (error as Error).name }),
    stream: { write: (line) => void lines.push(JSON.parse(line)) },
  })
  const error = new TypeError('said: secret')
  log.warn({ err: error, job: 'purge', token: 'secret' }, 'it failed')
  log.warn(error)
  log.warn(error, 'it failed')
  const described = { errorType: 'TypeError' }
  assert.deepEqual(
    lines.map(({ time: _time, level: _level, ...rest }) => rest),
    [
      { ...described, job: 'purge', msg: 'it failed' },
      { ...described, msg: 'error' },
      { ...described, msg: 'it failed' },
    ],
  )
})

test('the places of a stack are told without the message before them, which may look like one', () => {
  const stack = 'Error: x\n    at secret (/a.ts)\n    at run (file:///srv/apps/server/src/a.ts:1:2)\n'
  assert.deepEqual(framesOf(stack, 'x\n    at secret (/a.ts)'), ['at run (apps/server/src/a.ts:1:2)'])
  assert.deepEqual(framesOf(undefined, ''), [])
})
