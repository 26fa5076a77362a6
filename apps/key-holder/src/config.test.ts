import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ConfigError } from '@ostiary/service-kit/settings'
import { loadConfig } from './config.ts'

const key = () => randomBytes(32).toString('base64')
const matcher = () => randomBytes(32).toString('base64url')
const enough = { DATABASE_URL: 'postgres://holder@db/holder', MASTER_KEY: key(), MATCHER_KEYS: matcher() }

test('three settings are enough', () => {
  const config = loadConfig(enough)
  assert.deepEqual(
    [config.http, config.admin],
    [
      { host: '127.0.0.1', port: 8090 },
      { host: '127.0.0.1', hostNames: [], port: 9410 },
    ],
  )
  assert.equal(config.cosineMin, 0.49)
})

test('each secret can come from a file, and several keys of both kinds are read', () => {
  const [first, second] = [matcher(), matcher()]
  const files: Record<string, string> = {
    '/url': 'postgres://holder@db/holder\n',
    '/master': `${key()} # new\n${key()}\n`,
    '/matchers': `# both while one is replaced\n${first}\n${second}\n`,
  }
  const env = { DATABASE_URL_FILE: '/url', MASTER_KEY_FILE: '/master', MATCHER_KEYS_FILE: '/matchers' }
  const config = loadConfig(env, (path) => files[path] ?? '')
  assert.equal(config.masterKeys.length, 2)
  assert.deepEqual(config.matcherKeys, [first, second])
  assert.deepEqual(loadConfig({ ...enough, MATCHER_KEYS: `${first}, ${second}` }).matcherKeys, [first, second])
})

test('the commands that answer nobody need no keys of callers: the operators exchange keys in any order', () => {
  const { MATCHER_KEYS: _, ...rest } = enough
  for (const env of [rest, { ...rest, MATCHER_KEYS: '# none yet' }])
    assert.deepEqual(loadConfig(env, undefined, { needsCallers: false }).matcherKeys, [])
  assert.throws(() => loadConfig({ ...rest, MATCHER_KEYS: '# none yet' }), /MATCHER_KEYS: no key found/)
})

test('every problem is listed, and none quotes a value', () => {
  const problemsOf = (env: Record<string, string>) => {
    try {
      loadConfig(env, () => {
        throw new Error('no such file')
      })
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message.split('\n').filter((line) => line.startsWith('  - '))
    }
    return []
  }
  assert.deepEqual(problemsOf({}), [
    '  - DATABASE_URL: is required (or DATABASE_URL_FILE)',
    '  - MASTER_KEY: is required (or MASTER_KEY_FILE)',
    '  - MATCHER_KEYS: is required (or MATCHER_KEYS_FILE)',
  ])
  assert.deepEqual(problemsOf({ ...enough, MASTER_KEY: 'AAAA', MATCHER_KEYS: 'short', LOG_LEVEL: 'loud' }), [
    '  - LOG_LEVEL: must be one of fatal, error, warn, info, debug',
    '  - MASTER_KEY: each master key must be base64 of exactly 32 bytes',
    '  - MATCHER_KEYS: each must be base64url of a public Ed25519 key, 43 characters',
  ])
  assert.deepEqual(problemsOf({ ...enough, MASTER_KEY: '', MASTER_KEY_FILE: '/nowhere' }), [
    '  - MASTER_KEY_FILE: the file cannot be read',
  ])
  assert.deepEqual(problemsOf({ ...enough, MASTER_KEY: Buffer.alloc(32).toString('base64') }), [
    '  - MASTER_KEY: a master key must be random',
  ])
})
