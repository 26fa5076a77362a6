import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import { verifyWebhook } from '@ostiary/sdk'
import { FIXTURE_API_KEY } from '@ostiary/sdk/fixtures'
import { receiveWebhook } from '@ostiary/sdk/webhooks'
import { runCli } from './cli.ts'
import { checkAddress, checkBackup, checkTenant } from './doctor/live.ts'

const KEY = FIXTURE_API_KEY
type Judge = (request: IncomingMessage, body: string) => Promise<number> | number

let judge: Judge = () => 204
const server = createServer(async (request, response) => {
  const body = await text(request)
  response.writeHead(await judge(request, body), { location: 'http://127.0.0.1/' }).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`

async function diagnosed(receiver: Judge, at = url): Promise<{ code: number; states: string; remedies: string }> {
  judge = receiver
  const out: string[] = []
  const terminal = { out: (line: string) => out.push(line), err: assert.fail, isInteractive: false, progress: () => {} }
  const env = { OSTIARY_API_KEY: KEY, XDG_CONFIG_HOME: '/nowhere' }
  const code = await runCli(['doctor', 'webhook', '--url', at, '--json'], env, terminal)
  const checks: { name: string; state: string; remedy?: string }[] = JSON.parse(out.join('\n'))
  return {
    code,
    states: checks.map(({ state }) => state[0]).join(''),
    remedies: checks.map(({ remedy = '' }) => remedy).join('\n'),
  }
}

const header = (request: IncomingMessage, name: string) => String(request.headers[name])

const byTheBook: Judge = async (request, body) => {
  const timestamp = header(request, 'x-service-timestamp')
  const signature = header(request, 'x-service-signature')
  return (await verifyWebhook({ apiKey: KEY, timestamp, signature, body })) ? 204 : 400
}

test('doctor webhook: a receiver that verifies is right; each fault has its own advice', async () => {
  assert.deepEqual(await diagnosed(byTheBook), { code: 0, states: 'oooooo', remedies: '\n\n\n\n\n' })
  const bySdk: Judge = ({ headers }, body) =>
    receiveWebhook({ headers, body }, { apiKey: KEY }).then(
      () => 204,
      () => 400,
    )
  assert.equal((await diagnosed(bySdk)).states, 'oooooo')
  const anything = await diagnosed(() => 204)
  assert.deepEqual([anything.code, anything.states], [1, 'oooffw'])
  assert.match(anything.remedies, /Everybody who knows the address[\s\S]*5 minutes/)
  const reparsed = await diagnosed((_request, body) => (JSON.stringify(JSON.parse(body), null, 1) === body ? 204 : 401))
  assert.match(reparsed.remedies, /parsed before it was checked/)
  const seen = new Set<string>()
  const once = await diagnosed((request, body) => {
    const id = header(request, 'x-service-delivery')
    if (seen.has(id)) return 409
    seen.add(id)
    return byTheBook(request, body)
  })
  assert.deepEqual([once.code, once.states], [1, 'oofooo'])
  assert.match((await diagnosed(() => 302)).remedies, /redirects are never followed/)
  assert.match((await diagnosed(() => 404)).remedies, /The path is not the one/)
  const absent = await diagnosed(() => 204, 'http://127.0.0.1:1/hook')
  assert.deepEqual([absent.code, absent.states], [1, 'f'])
})

test('doctor live: address, backup and a tenant that nobody has prepared', () => {
  assert.equal(checkAddress('https://id.example').state, 'ok')
  for (const bad of [undefined, 'http://id.example', 'https://localhost:8080']) {
    assert.equal(checkAddress(bad).state, 'failed')
  }
  const now = new Date('2026-11-18T12:00:00Z')
  assert.equal(checkBackup(undefined, now).state, 'warning')
  assert.equal(checkBackup(new Date('2026-11-18T02:00:00Z'), now).state, 'ok')
  assert.equal(checkBackup(new Date('2026-11-15T02:00:00Z'), now).state, 'failed')
  const tenant = { name: 'Fjord', settings: TENANT_SETTINGS_DEFAULTS, keys: [], clients: [], webhookKeys: [] }
  assert.deepEqual(
    checkTenant(tenant).map(({ name, state }) => [name, state]),
    [
      ['Fjord: live key', 'failed'],
      ['Fjord: redirect list', 'failed'],
      ['Fjord: age buffer', 'warning'],
      ['Fjord: webhook key pair', 'warning'],
    ],
  )
})
