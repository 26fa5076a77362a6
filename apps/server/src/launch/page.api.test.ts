import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import type { LightMyRequestResponse } from 'fastify'
import { assertError, createHarness } from '../testing/harness.ts'
import { createLaunchFixture } from './testing/fixture.ts'

const DOCUMENT = '<!doctype html><title>Ostiary</title>'
const SCRIPT = `console.log('${'x'.repeat(2_000)}')`
const SCRIPT_PATH = 'assets/main-B3xY7_aQ.js'
const SHOP = 'https://shop.example'
const UNKNOWN_SESSION = '079b6cd9-f993-81a6-95fd-62194e74386d'

const folder = temporaryFolder('page')
write('index.html', DOCUMENT)
write(SCRIPT_PATH, SCRIPT)
write(`${SCRIPT_PATH}.gz`, gzipSync(SCRIPT))
write('service-worker.js', 'self')
write('models/manifest.json', '{"id":"x"}')
write('models/dlib/0123456789ab/dlib.onnx', 'net')
write('doomed.txt', 'doomed')
const fixture = await createLaunchFixture({ LAUNCH_DIR: folder })

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

const get = (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  fixture.harness.inject({ method, url: `/launch/${path}`, headers })
const ancestorsOf = ({ headers }: LightMyRequestResponse) =>
  /frame-ancestors ([^;]+)/.exec(String(headers['content-security-policy']))?.[1]

describe('GET /launch/', () => {
  test('is the document: isolated, revalidated every time, with access to the camera and only its own scripts', async () => {
    const { statusCode, body, headers } = await get('')
    assert.deepEqual([statusCode, body], [200, DOCUMENT])
    const { 'content-type': type, 'cache-control': cache, 'content-length': length } = headers
    assert.deepEqual([type, cache, length], ['text/html; charset=utf-8', 'no-cache', String(DOCUMENT.length)])
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; /,
    )
    assert.deepEqual(
      ['opener', 'embedder'].map((kind) => headers[`cross-origin-${kind}-policy`]),
      ['same-origin', 'require-corp'],
    )
    assert.match(String(headers['permissions-policy']), /^camera=\(self\), /)
    assert.deepEqual([headers['referrer-policy'], headers['x-content-type-options']], ['no-referrer', 'nosniff'])
    assert.match(String(headers['strict-transport-security']), /^max-age=/)
  })

  test('may be framed by the origins that the session’s tenant lists, as soon as they are listed', async () => {
    const { sessionId } = await fixture.create()
    assert.equal(ancestorsOf(await get(`?sessionId=${sessionId}`)), "'none'")
    const page = await fixture.withSettings({ embedOrigins: [SHOP, 'http://localhost:3000'] }, () =>
      get(`?sessionId=${sessionId}`),
    )
    assert.equal(ancestorsOf(page), `${SHOP} http://localhost:3000`)
    assert.equal(page.headers['cross-origin-resource-policy'], 'cross-origin')
  })

  test('may be framed without encryption for test sessions only', async () => {
    await fixture.withSettings({ embedOrigins: [SHOP, 'http://localhost:3000'] }, async () => {
      const { sessionId } = await fixture.create({}, await fixture.liveKey())
      assert.equal(ancestorsOf(await get(`?sessionId=${sessionId}`)), SHOP)
    })
  })

  test('keeps the connection of a popup to its opener only when the tenant lists origins', async () => {
    const { sessionId } = await fixture.create()
    const openerOf = async () => (await get(`?sessionId=${sessionId}&as=popup`)).headers['cross-origin-opener-policy']
    assert.equal(await openerOf(), 'same-origin')
    assert.equal(await fixture.withSettings({ embedOrigins: [SHOP] }, openerOf), 'unsafe-none')
  })

  test('is served for an unknown session, no session or two sessions, and nobody may frame it', async () => {
    for (const query of [`?sessionId=${UNKNOWN_SESSION}`, '?sessionId=x', '?sessionId=a&sessionId=b', '?as[]=popup']) {
      const page = await get(query)
      assert.deepEqual([page.statusCode, page.body, ancestorsOf(page)], [200, DOCUMENT, "'none'"], query)
    }
  })

  test('is not sent again to a browser that has it, until it or the list of framing origins changes', async () => {
    const { sessionId } = await fixture.create()
    const url = `?sessionId=${sessionId}`
    const { etag = '' } = (await get(url)).headers
    const known = { 'if-none-match': `"other", W/${etag}` }
    const same = await get(url, known)
    assert.deepEqual([same.statusCode, same.body, same.headers.etag], [304, '', etag])
    assert.equal((await get(url, { 'if-none-match': '"other"' })).statusCode, 200)
    const shared = await fixture.withSettings({ embedOrigins: [SHOP] }, () => get(url, known))
    assert.deepEqual([shared.statusCode, ancestorsOf(shared)], [200, SHOP])
  })

  test('redirects from the path without its slash, with the query, at any path of a proxy', async () => {
    const { statusCode, headers } = await fixture.harness.inject('/launch?sessionId=a%20b&x=1')
    assert.deepEqual([statusCode, headers.location], [308, 'launch/?sessionId=a%20b&x=1'])
  })
})

describe('a file of the page', () => {
  test('is cached for ever when its name has a hash, and revalidated otherwise', async () => {
    const cacheOf = async (path: string) => (await get(path)).headers['cache-control']
    const forever = 'public, max-age=31536000, immutable'
    assert.equal(await cacheOf(SCRIPT_PATH), forever)
    assert.equal(await cacheOf('models/dlib/0123456789ab/dlib.onnx'), forever)
    assert.equal(await cacheOf('models/manifest.json'), 'no-cache')
    assert.equal(await cacheOf('service-worker.js'), 'no-cache')
  })

  test('is compressed for a caller that accepts it, with a tag of its own', async () => {
    const plain = await get(SCRIPT_PATH, { 'accept-encoding': 'br, gzip;q=0' })
    assert.deepEqual([plain.body, plain.headers['content-encoding']], [SCRIPT, undefined])
    const small = await get(SCRIPT_PATH, { 'accept-encoding': 'br;q=1.0, gzip;q=0.8, *;q=0.1' })
    assert.deepEqual([...small.rawPayload], [...gzipSync(SCRIPT)])
    const { 'content-encoding': encoding, 'content-type': type, vary, etag } = small.headers
    assert.deepEqual([encoding, type, vary], ['gzip', 'text/javascript; charset=utf-8', 'accept-encoding'])
    assert.notEqual(etag, plain.headers.etag)
    assert.equal(
      (await get('models/manifest.json', { 'accept-encoding': 'gzip' })).headers['content-encoding'],
      undefined,
    )
  })

  test('has the page’s policy, so that a worker may do what the page may', async () => {
    const script = await get(SCRIPT_PATH)
    assert.equal(script.headers['content-security-policy'], (await get('')).headers['content-security-policy'])
    assert.equal(script.headers['cross-origin-embedder-policy'], 'require-corp')
    assert.equal((await get('service-worker.js')).headers['service-worker-allowed'], './')
    assert.equal(script.headers['service-worker-allowed'], undefined)
  })

  test('answers HEAD as GET, without its bytes', async () => {
    for (const path of ['', SCRIPT_PATH, 'models/manifest.json']) {
      const [head, whole] = [await get(path, {}, 'HEAD'), await get(path)]
      const { date: _a, 'x-request-id': _b, ...ofHead } = head.headers
      const { date: _c, 'x-request-id': _d, ...ofWhole } = whole.headers
      assert.deepEqual([head.statusCode, head.body], [200, ''])
      assert.deepEqual(ofHead, ofWhole, path)
    }
  })

  test('404 for any path that is not in the folder, however it is encoded', async () => {
    const missing = [404, 'NOT_FOUND', 'There is nothing at this path'] as const
    for (const path of ['nothing.js', 'assets', 'assets/', 'index.html.gz', `${SCRIPT_PATH}.gz`, '.env', 'index.html'])
      assertError(await get(path), ...missing)
    const { port } = new URL(fixture.baseUrl)
    for (const path of ['/launch/../package.json', '/launch/%2e%2e/%2e%2e/package.json', '/launch/..%2fpackage.json']) {
      // Sent with node:http, because fetch normalises such a path.
      const statusCode = await new Promise((resolve, reject) => {
        const sent = httpRequest({ host: '127.0.0.1', port, path }, (response) => resolve(response.resume().statusCode))
        sent.once('error', reject).end()
      })
      assert.equal(statusCode, 404, path)
    }
  })

  test('404 when it was deleted or became a link after the start', async () => {
    const gone = [404, 'NOT_FOUND', 'There is nothing at this path'] as const
    assert.equal((await get('doomed.txt')).body, 'doomed')
    unlinkSync(join(folder, 'doomed.txt'))
    assertError(await get('doomed.txt'), ...gone)
    symlinkSync('/etc/hostname', join(folder, 'doomed.txt'))
    assertError(await get('doomed.txt'), ...gone)
  })

  test('accepts no other method, and the device API keeps its methods', async () => {
    const posted = await fixture.harness.inject({ method: 'POST', url: '/launch/', payload: {} })
    assertError(posted, 405, 'METHOD_NOT_ALLOWED', 'This path does not take this method')
    assert.equal(posted.headers.allow, 'GET, HEAD')
    const read = await fixture.harness.inject('/launch/api/open')
    assertError(read, 405, 'METHOD_NOT_ALLOWED', 'This path does not take this method')
  })
})

test('the page is served while the database is down, and the failure is in the log', async () => {
  const { sessionId } = await fixture.create()
  const { wire, logged } = fixture.harness
  const db = wire.platform.cells.forId(sessionId)
  const { rows } = db
  Object.assign(db, { rows: () => Promise.reject(new Error('away')) })
  try {
    const page = await get(`?sessionId=${sessionId}`)
    assert.deepEqual([page.statusCode, ancestorsOf(page)], [200, "'none'"])
  } finally {
    Object.assign(db, { rows })
  }
  assert.match(logged(), /"msg":"cannot read which origins may frame the page"/)
})

test('an address that invents session ids still gets the page, without a query of the database', async () => {
  const { sessionId } = await fixture.create()
  await fixture.withSettings({ embedOrigins: [SHOP] }, async () => {
    const url = { url: `/launch/?sessionId=${sessionId}`, remoteAddress: '198.51.100.7' }
    const ancestors: unknown[] = []
    for (let sent = 0; sent < 301; sent++) ancestors.push(ancestorsOf(await fixture.harness.inject(url)))
    assert.deepEqual([ancestors[0], ancestors[299], ancestors[300]], [SHOP, SHOP, "'none'"])
  })
})

test('without a built page the address says how to build it, and the service is still ready', async () => {
  const harness = await createHarness({ LAUNCH_DIR: join(folder, 'nothing') })
  const { statusCode, headers, body } = await harness.inject('/launch/?sessionId=x')
  assert.deepEqual([statusCode, headers['content-type']], [503, 'text/html; charset=utf-8'])
  assert.match(body, /npm run build -w apps\/launch/)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal((await harness.inject('/readyz')).statusCode, 200)
  assert.match(harness.logged(), /the launch page is not built/)
})
