import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from './errors.ts'
import { createLog } from './log.ts'

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  let line = '{}'
  write(
    createLog('debug', {
      write: (text) => {
        line = text
      },
    }),
  )
  const { time, ...rest } = JSON.parse(line)
  assert.match(time, /^\d{4}-\d\d-\d\dT/)
  return rest
}

test('only fields of the allow-list are written', () => {
  const line = logged((log) =>
    log.info(
      {
        operation: 'x',
        status: 200,
        body: 'SECRET',
        headers: { a: 'SECRET' },
        name: 'SECRET',
        nested: { operation: 'SECRET' },
      },
      'request',
    ),
  )
  assert.deepEqual(line, { level: 'info', operation: 'x', status: 200, msg: 'request' })
})

test('errors are written without their text, with type, code and place', () => {
  const cause = Object.assign(new TypeError('Key (name)=(SECRET) already exists'), { code: '23505', detail: 'SECRET' })
  for (const write of [
    (log: ReturnType<typeof createLog>) =>
      log.error({ err: new AppError('internal', 'INTERNAL', 'SECRET', { cause, detail: 'our own words' }) }, 'failed'),
    (log: ReturnType<typeof createLog>) =>
      log.error(new AppError('internal', 'INTERNAL', 'SECRET', { cause, detail: 'our own words' })),
  ]) {
    const line = logged(write)
    assert.ok(!JSON.stringify(line).includes('SECRET'))
    assert.equal(line.errorType, 'AppError < TypeError')
    assert.equal(line.errorCode, 'INTERNAL < 23505')
    assert.equal(line.detail, 'our own words')
    assert.match(String((line.errorAt as string[])[0]), /^at /)
  }
  assert.deepEqual(
    logged((log) => log.error({ err: 'SECRET' }, 'odd')),
    { level: 'error', errorType: 'string', msg: 'odd' },
  )
})

test('a message that looks like a code location is not logged as one, and the code of plain objects is logged', () => {
  const line = logged((log) => log.error({ err: new Error('bad\n    at SECRET (file.ts:1:1)') }, 'failed'))
  assert.ok(!JSON.stringify(line).includes('SECRET'))
  assert.ok((line.errorAt as string[]).length > 0)
  const plain = logged((log) =>
    log.error(
      { err: { message: 'SECRET', code: '55P03', stack: 'Error: SECRET\n    at x (y.ts:1:1)' } },
      'queue error',
    ),
  )
  assert.deepEqual([plain.errorType, plain.errorCode, plain.errorAt], ['object', '55P03', ['at x (y.ts:1:1)']])
})
