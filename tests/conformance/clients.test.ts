/** The clients of other languages: their own tests, and what they do when the service or the network fails. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { VERSION } from '@ostiary/contract'
import { formatApiKey, openEnvelope } from '@ostiary/crypto'
import { ROOT } from '@ostiary/testkit/root'
import { type FaultyServer, type Received, startFaultyServer } from './clients/faulty-server.ts'

interface Language {
  name: string
  /** Debian's own, as in tools/bootstrap: another one on the PATH does not see Debian's packages. */
  program: string
  units: readonly (readonly string[])[]
  calls: string
  env: Record<string, string>
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    program: '/usr/bin/python3',
    units: [['-m', 'unittest', 'discover', '-s', `${ROOT}clients/python/tests`]],
    calls: `${ROOT}tests/conformance/clients/calls.py`,
    env: {
      PYTHONPATH: `${ROOT}clients/python/src`,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'error::ResourceWarning',
    },
  },
  {
    name: 'PHP',
    program: '/usr/bin/php',
    units: globSync('clients/php/tests/*-test.php', { cwd: ROOT }).map((file) => [`${ROOT}${file}`]),
    calls: `${ROOT}tests/conformance/clients/calls.php`,
    env: {},
  },
]
const API_KEY = formatApiKey({ livemode: false, bucket: 7 }, new Uint8Array(32).fill(9))

/** Only what is named here reaches the client: no proxy of this machine stands between it and the server. */
function run({ program, env }: Language, args: readonly string[], more: Record<string, string> = {}) {
  return promisify(execFile)(program, args, { env: { ...env, ...more }, timeout: 120_000 })
}

for (const language of LANGUAGES) {
  const skip = existsSync(language.program) ? false : `${language.program} is not installed`

  describe(`the client in ${language.name}`, { skip }, () => {
    let server: FaultyServer
    let outcome: Record<string, unknown>

    before(async () => {
      server = await startFaultyServer()
      const { stdout } = await run(language, [language.calls], { FAULTY_URL: server.url, API_KEY })
      outcome = JSON.parse(stdout)
    })
    after(() => server.close())

    const requests = (fault: string): readonly Received[] => server.requests.get(fault) ?? []

    test('its own tests pass', async () => {
      assert.ok(language.units.length > 0)
      for (const args of language.units) await run(language, args)
    })

    test('seven transient failures give one session each, and the caller sees each retry', () => {
      assert.deepEqual(
        outcome.transient,
        [1, 2, 3, 4, 5, 6, 7].map((number) => `session-${number}`),
      )
      assert.equal(server.sessions.size, 7)
      assert.deepEqual(
        outcome.retries,
        [408, 429, 500, 502, 503, 504, 0].map((status) => [status, 1, true]),
      )
    })

    test('a refusal is not repeated; its error has code, request id and details', () => {
      assert.equal(requests('refused').length, 1)
      const details = [{ path: '/ageThreshold' }]
      assert.deepEqual(outcome.refused, {
        ...{ status: 400, code: 'VALIDATION_FAILED', message: 'Wrong', requestId: 'req-1', details, retryAfter: null },
      })
    })

    test('an error of a proxy, in a form of its own, is an error like others', () => {
      assert.deepEqual(outcome.proxy, {
        ...{
          status: 404,
          code: 'UNKNOWN',
          message: 'The service answered 404',
          requestId: null,
          details: [],
          retryAfter: null,
        },
      })
    })

    test('a line break in an idempotency key is refused and begins no header', () => {
      assert.equal((outcome.injected as { code: string }).code, 'INVALID_OPTION')
      assert.equal(server.requests.has('stolen'), false)
    })

    test('it gives up after the last attempt, before a long wait, and in time', () => {
      const facts = (name: string) => {
        const { status, code, retryAfter } = outcome[name] as Record<string, unknown>
        return [status, code, retryAfter]
      }
      assert.deepEqual(facts('givenUp'), [503, 'NOT_JSON', null])
      assert.equal(requests('down').length, 3)
      assert.deepEqual(facts('longWait'), [429, 'RATE_LIMITED', 3600])
      assert.equal(requests('busy').length, 1)
      assert.deepEqual(facts('slow'), [0, 'TIMED_OUT', null])
      assert.deepEqual(facts('notJson'), [200, 'NOT_JSON', null])
    })

    test('it follows no redirect, which would carry the API key elsewhere', () => {
      assert.equal((outcome.redirect as { status: number }).status, 307)
      assert.equal(server.requests.has('stolen'), false)
    })

    test('a call that must not happen twice is not repeated after a lost answer', () => {
      assert.equal((outcome.once as { code: string }).code, 'CONNECTION_FAILED')
      assert.equal(requests('lost-clock').length, 1)
    })

    test('after a lost answer, the repeat that finds the work done is a success', () => {
      assert.equal(outcome.cancelled, 'CANCELLED')
      assert.equal(outcome.isDeleted, true)
    })

    test('people are found, freed and deleted by what the host has of them', async () => {
      const asked = requests('people').map(({ method, path, body }) => {
        const { pathname, searchParams } = new URL(path, server.url)
        return [method, pathname, Object.fromEntries(searchParams), body === '' ? null : JSON.parse(body)]
      })
      const sealed = asked.at(-1)?.[3].puid
      assert.equal((await openEnvelope(API_KEY, sealed, { purposes: ['deleteUser'] })).text, '0199')
      assert.deepEqual(asked, [
        ['POST', '/v2/verification-lockout/find', {}, { puid: 'p 1' }],
        ['POST', '/v2/verification-lockout/clear', {}, { customerId: 'c 1' }],
        ['GET', '/v2/verification-sessions', { transactionID: 'o/7 &', limit: '5' }, null],
        ['POST', '/node/FACE3_1/deleteUser', {}, { metadata: { id: 'c 1' } }],
        ['POST', '/node/FACE3_1/deleteUser', {}, { puid: sealed }],
      ])
      assert.deepEqual(outcome.people, [false, false, [], true, true])
    })

    test('warnings are in the result and given to the callback', () => {
      const warnings = ['estimate-without-buffer', 'ignored-field: livenessEnabled']
      assert.deepEqual(outcome.warnings, [warnings, warnings])
    })

    test('one access token serves all calls, and one that is refused is replaced once; the token endpoint gets no API key', () => {
      assert.deepEqual(
        outcome.tokens,
        [0, 1, 2].map((number) => `Bearer token-2 ${number}`),
      )
      const asked = requests('credentials').filter(({ path }) => path === '/oauth/token')
      assert.equal(asked.length, 2)
      for (const { headers, body } of asked) {
        assert.equal(headers['x-api-key'], undefined)
        assert.equal(headers.authorization, `Basic ${btoa('id%3A1:s%2F1')}`)
        assert.equal(body, 'grant_type=client_credentials')
      }
    })

    test('the stream of events goes on after a quiet time and a lost connection, from its cursor', () => {
      assert.deepEqual(outcome.events, ['e-1', 'e-2', 'e-3'])
      const asked = requests('events').map(({ path }) => new URL(path, 'http://x.example').searchParams)
      assert.deepEqual(
        asked.map((query) => [query.get('cursor'), query.get('wait')]),
        ['start', 'after-2', 'after-2', 'after-quiet'].map((cursor) => [cursor, '25']),
      )
    })

    test('a list is read to its last page, with its filters', () => {
      assert.deepEqual(outcome.all, ['s-1', 's-2'])
      const query = (index: number) =>
        Object.fromEntries(new URL(requests('pages')[index]?.path ?? '', 'http://x.example').searchParams)
      const filters = { state: 'COMPLETED', metadata: query(0).metadata }
      assert.deepEqual(JSON.parse(String(filters.metadata)), { order: 'A 7' })
      assert.deepEqual(query(0), filters)
      assert.deepEqual(query(1), { ...filters, cursor: 'c+/=2' })
    })
  })
}

test('the clients refuse webhooks with the same words, and their READMEs explain each', () => {
  const words = (file: string, pattern: RegExp) =>
    [...readFileSync(`${ROOT}clients/${file}`, 'utf8').matchAll(pattern)].map(([, word]) => word)
  const reasons = words('python/src/ostiary/webhooks.py', /^ {4}"([a-z_]+)": "/gm)
  assert.ok(reasons.length >= 10)
  assert.deepEqual(words('php/src/WebhookError.php', /^ {8}'([a-z_]+)' => /gm), reasons)
  for (const language of ['python', 'php']) {
    const text = readFileSync(`${ROOT}clients/${language}/README.md`, 'utf8')
    for (const reason of reasons) assert.ok(text.includes(`\`${reason}\``), `${language}: ${reason}`)
  }
})

test('every class of the PHP client is where its composer.json and autoload.php look for it', () => {
  const { autoload } = JSON.parse(readFileSync(`${ROOT}clients/php/composer.json`, 'utf8'))
  assert.deepEqual(autoload, { 'psr-4': { 'Ostiary\\': 'src/' } })
  const files = globSync('clients/php/src/**/*.php', { cwd: ROOT })
  assert.ok(files.length > 20)
  for (const file of files) {
    const text = readFileSync(`${ROOT}${file}`, 'utf8')
    assert.match(text, /^namespace Ostiary;$/m, file)
    const names = [...text.matchAll(/^(?:final |abstract )?(?:class|interface) (\w+)/gm)].map(([, name]) => name)
    assert.deepEqual(names, [basename(file, '.php')])
  }
})

test('the clients have the version of the API', () => {
  const read = (file: string) => readFileSync(`${ROOT}clients/${file}`, 'utf8')
  assert.match(read('python/pyproject.toml'), new RegExp(`^version = "${VERSION}"$`, 'm'))
  assert.match(read('python/src/ostiary/_version.py'), new RegExp(`^VERSION = "${VERSION}"$`, 'm'))
  assert.equal(JSON.parse(read('php/composer.json')).version, VERSION)
  assert.ok(read('php/src/Version.php').includes(`NUMBER = '${VERSION}'`))
})
