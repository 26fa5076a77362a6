import assert from 'node:assert/strict'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { closeServer, createAdminServer, listen } from './admin-server.ts'
import type { HealthMonitor } from './health.ts'
import { createMetrics } from './metrics.ts'
import { createReferencePages } from './reference.ts'

const pages = createReferencePages({ version: '9.8.7', publicUrl: 'https://api.example' })
const metrics = createMetrics('9.8.7', { processMetrics: false })
/** Nothing here asks for it: the process has no database. */
const monitor: HealthMonitor = {
  health: () => assert.fail('not asked for'),
  readiness: async () => 'starting',
  report: () => {},
  markStarted: () => {},
  markStopping: () => {},
  warn: () => {},
}
const admin = createAdminServer({ metrics, monitor, pages })
let url = ''
before(async () => {
  await listen(admin, 0, '127.0.0.1')
  url = `http://127.0.0.1:${(admin.address() as AddressInfo).port}`
})
after(() => closeServer(admin))

test('the reference page has no script of its own and loads from this port only', async () => {
  const response = await fetch(`${url}/reference`)
  const html = await response.text()
  assert.equal(response.status, 200)
  assert.match(String(response.headers.get('content-type')), /^text\/html/)
  const scripts = [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)]
  assert.equal(scripts.length, 2)
  for (const [, attributes = '', content] of scripts) {
    const path = /src="(\/reference\/[a-z]+\.js)"/.exec(attributes)?.[1]
    assert.ok(path !== undefined && content === '', 'a file, and nothing inline')
    assert.equal((await fetch(url + path)).status, 200)
  }
  assert.ok(!/(src|href)="?(https?:)?\/\//.test(html))
})

test('no file of the reference may run an inline script, use a camera or a passkey, or be framed', async () => {
  for (const path of pages.keys()) {
    const { headers } = await fetch(url + path)
    const policy = String(headers.get('content-security-policy')).split('; ')
    for (const directive of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(directive), `${path}: ${directive}`)
    assert.ok(policy.includes("require-trusted-types-for 'script'"), path)
    const permissions = String(headers.get('permissions-policy')).split(', ')
    for (const feature of ['camera', 'publickey-credentials-create', 'publickey-credentials-get'])
      assert.ok(permissions.includes(`${feature}=()`), `${path}: ${feature}`)
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  }
})

test('the document of the reference names the public address, and its script is the viewer', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    servers: unknown
    info: { version: string }
  }
  assert.deepEqual(document.servers, [{ url: 'https://api.example' }])
  assert.equal(document.info.version, '9.8.7')
  const script = await (await fetch(`${url}/reference/scalar.js`)).text()
  assert.ok(script.length > 100_000 && script.includes('createApiReference'))
})

test('[U7] a page whose name was pointed here reads nothing', async () => {
  const asked = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      get(`${url}/metrics`, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on(
        'error',
        reject,
      )
    })
  assert.deepEqual([await asked('evil.example'), await asked('localhost')], [421, 200])
})

test('a process without the reference does not have its paths', async () => {
  const bare = createAdminServer({ metrics, monitor })
  await listen(bare, 0, '127.0.0.1')
  const response = await fetch(`http://127.0.0.1:${(bare.address() as AddressInfo).port}/reference`)
  assert.equal(response.status, 404)
  assert.deepEqual(await response.json(), { message: 'Here are /metrics, /livez, /readyz' })
  await closeServer(bare)
})
