import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ConfigError, loadConfig, loadSanctionsConfig } from './config.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const GOOD = { DATABASE_URL: 'postgres://u:p@h/db', MASTER_KEY }

function problemsOf(env: Record<string, string>, readFile?: (path: string) => string): readonly string[] {
  try {
    loadConfig(env, readFile)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
  return []
}

test('two secrets are required; all other settings have defaults', () => {
  const config = loadConfig(GOOD)
  assert.deepEqual(config.http, { host: '127.0.0.1', port: 8080, trustProxy: [] })
  assert.equal(config.migrateOnStart, true)
  assert.equal(config.authRequiredAreas.size, 0)
  assert.ok(Object.isFrozen(config))
})

test('values are read by their type', () => {
  const config = loadConfig({
    ...GOOD,
    PORT: '9000',
    MIGRATE_ON_START: 'false',
    AUTH_REQUIRED_AREAS: 'A,B',
    TRUST_PROXY: '192.0.2.1, 2001:db8::/32',
  })
  assert.equal(config.http.port, 9000)
  assert.equal(config.migrateOnStart, false)
  assert.deepEqual([...config.authRequiredAreas], ['A', 'B'])
  assert.deepEqual(config.http.trustProxy, ['192.0.2.1', '2001:db8::/32'])
})

test('this installation serves the launch page below its public URL, unless LAUNCH_URL names another host', () => {
  const ours = loadConfig({ ...GOOD, PUBLIC_URL: 'https://id.example/ostiary/' }).launch
  assert.deepEqual([ours.url, ours.isOurs], ['https://id.example/ostiary/launch/', true])
  assert.match(ours.folder, /\/apps\/launch\/dist$/)
  assert.equal(
    loadConfig({ ...GOOD, PUBLIC_URL: 'https://id.example/ostiary/' }).publicUrl,
    'https://id.example/ostiary',
  )
  const LAUNCH_URL = 'https://page.example/check?v=2'
  const elsewhere = loadConfig({ ...GOOD, LAUNCH_URL, LAUNCH_DIR: '/srv/page' }).launch
  assert.deepEqual(elsewhere, { url: LAUNCH_URL, folder: '/srv/page', isOurs: false })
  assert.deepEqual(problemsOf({ ...GOOD, PUBLIC_URL: 'https://id.example:port' }), ['PUBLIC_URL: is not a valid URL'])
  assert.deepEqual(problemsOf({ ...GOOD, LAUNCH_URL: 'https://[page' }), ['LAUNCH_URL: is not a valid URL'])
})

test('there are no lists of networks unless a folder is named', () => {
  assert.equal(loadConfig(GOOD).networkListsDir, null)
  assert.equal(loadConfig({ ...GOOD, NETWORK_LISTS_DIR: '/srv/networks' }).networkListsDir, '/srv/networks')
})

test('every wrong setting is named at once', () => {
  assert.deepEqual(problemsOf({ PORT: 'eighty', LOG_LEVEL: 'loud', MIGRATE_ON_START: 'maybe' }), [
    'PORT: must be integer',
    'MIGRATE_ON_START: must be boolean',
    'LOG_LEVEL: must be one of fatal, error, warn, info, debug',
    'DATABASE_URL: is required',
    'MASTER_KEY: is required (or MASTER_KEY_FILE); make one with: openssl rand -base64 32',
  ])
})

test('secrets have no default', () => {
  assert.match(problemsOf({ DATABASE_URL: GOOD.DATABASE_URL }).join(), /^MASTER_KEY: is required/)
  assert.match(problemsOf({ ...GOOD, MASTER_KEY: 'changeme' }).join(), /^MASTER_KEY: each master key must be base64/)
})

test('no message repeats a secret', () => {
  const problems = problemsOf({ DATABASE_URL: 'mysql://u:hunter2@h/db', MASTER_KEY: 'hunter2hunter2' })
  assert.equal(problems.length, 2)
  assert.ok(!problems.join().includes('hunter2'))
})

test('a secret can come from a file, but not from a file and a variable', () => {
  const files: Record<string, string> = { '/run/db': 'postgres://u:p@h/db\n', '/run/key': `${MASTER_KEY}\n` }
  const readFile = (path: string) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error('no'), { code: 'ENOENT' })
    return text
  }
  assert.equal(loadConfig({ DATABASE_URL_FILE: '/run/db', MASTER_KEY_FILE: '/run/key' }, readFile).masterKeys.length, 1)
  assert.deepEqual(problemsOf({ DATABASE_URL_FILE: '/run/db', MASTER_KEY_FILE: '/run/none' }, readFile), [
    'MASTER_KEY_FILE: the file cannot be read',
  ])
  assert.ok(
    problemsOf({ ...GOOD, MASTER_KEY_FILE: '/run/key' }, readFile).includes(
      'MASTER_KEY: set either this or MASTER_KEY_FILE',
    ),
  )
  assert.deepEqual(problemsOf({ MASTER_KEY, CELLS_FILE: '/run/none' }, readFile), [
    'CELLS_FILE: the file does not exist',
  ])
})

test('addresses of proxies and the database URL are checked before anything starts', () => {
  const problems = problemsOf({
    DATABASE_URL: 'postgres://u:p#a@h:x/db',
    MASTER_KEY,
    TRUST_PROXY: '999.1.1.1',
    PORT: 'abc',
  })
  assert.deepEqual(
    problems.map((problem) => problem.split(':')[0]),
    ['PORT', 'DATABASE_URL', 'TRUST_PROXY'],
  )
  for (const wrong of ['10.0.0.0/33', '10.0.0.0/', '1.2.3.4/8/8', 'abc'])
    assert.equal(problemsOf({ ...GOOD, TRUST_PROXY: wrong }).length, 1, wrong)
  assert.deepEqual(problemsOf({ ...GOOD, TRUST_PROXY: '10.0.0.0/8, ::1, 2001:db8::/32' }), [])
})

test('an invalid cell map is not quoted, because it contains passwords', () => {
  const [problem = ''] = problemsOf({ MASTER_KEY, CELLS_FILE: 'f' }, () => '{"cells":{"a": postgres://u:hunter2@h/db}}')
  assert.equal(problem, 'CELLS_FILE: is not valid JSON')
})

test('area B’s settings can be read alone, without database and master key', () => {
  const { threads, ...rest } = loadSanctionsConfig({})
  assert.deepEqual(rest, { dir: './data/sanctions', keepVersions: 5, fileSeconds: 120, sourcesFile: null })
  assert.ok(threads >= 1, 'as many as there are processors')
  assert.deepEqual(loadConfig({ ...GOOD, SANCTIONS_THREADS: '3', SANCTIONS_DIR: '/lists' }).sanctions, {
    ...rest,
    dir: '/lists',
    threads: 3,
  })
  assert.throws(
    () => loadSanctionsConfig({ SANCTIONS_KEEP_VERSIONS: 'many', SANCTIONS_THREADS: '-1' }),
    (error: ConfigError) => error.problems.length === 2,
  )
})
