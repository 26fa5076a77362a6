import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiClientRecord, ApiKeyRecord } from '@ostiary/contract'
import { createDatabase, testSettings } from './databases.ts'
import { freePorts, ostiary, type Started, startApi, startServices, startWorker } from './run.ts'

export interface RunningSystem {
  /** What black-box tests know of the installation: addresses and keys. */
  env: Record<string, string>
  api: Started
  /** Of its processes, for further commands of the operator. */
  settings: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** A whole installation as an operator would run it: database, API and worker as processes, tenants and keys by the CLI. */
export async function startSystem(
  logName: string,
  /** Settings that lead to the database another way. */
  reach: (databaseUrl: string) => Promise<Record<string, string>> = async () => ({}),
): Promise<RunningSystem> {
  const database = await createDatabase(startServices(), 'system')
  const lists = mkdtempSync(join(tmpdir(), 'ostiary-lists-'))
  const installed = {
    ...testSettings(database.url),
    ...(await reach(database.url)),
    SANCTIONS_DIR: lists,
    // Webhooks of the tests go to receivers on this machine.
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    ...(process.env.LAUNCH_DIR && { LAUNCH_DIR: process.env.LAUNCH_DIR }),
  }
  importList(installed, join(lists, 'acceptance_list.csv'))
  const [port = 0, adminPort = 0, ...hostPorts] = await freePorts(4)
  // Browsers give the camera to this name without https.
  const settings = { ...installed, PUBLIC_URL: `http://localhost:${port}` }
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) }
  const api = await startApi({ env: { ...settings, ...ports }, logName: `${logName}-api` })
  const worker = await startWorker({ env: settings, logName: `${logName}-worker` })
  const env = {
    OSTIARY_URL: api.url,
    OSTIARY_ADMIN_URL: api.adminUrl,
    ...keysFor(settings, 'ONE', 'Acceptance One'),
    ...clientFor(settings, 'Acceptance One'),
    ...keysFor(settings, 'TWO', 'Acceptance Two'),
    ...framingHost(settings, hostPorts),
  }
  return {
    env,
    api,
    settings,
    async stop() {
      await Promise.all([api.stop(), worker.stop()])
      await database.drop()
      rmSync(lists, { recursive: true, force: true })
    },
  }
}

function keysFor(settings: Record<string, string>, name: string, tenant: string): Record<string, string> {
  const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', tenant)
  const create = (mode: string) =>
    ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, `--${mode}`, '--plan', 'plus').api_key
  return { [`OSTIARY_TEST_KEY_${name}`]: create('test'), [`OSTIARY_LIVE_KEY_${name}`]: create('live') }
}

/** Client credentials, which live sessions of area D need beside the key. */
function clientFor(settings: Record<string, string>, tenant: string): Record<string, string> {
  const named = ['--tenant', tenant, '--name', 'host', '--live']
  const { client_id, client_secret = '' } = ostiary<ApiClientRecord>(settings, 'clients', 'create', ...named)
  return { OSTIARY_LIVE_CLIENT_ID: client_id, OSTIARY_LIVE_CLIENT_SECRET: client_secret }
}

/** A customer with a brand, whose pages at these ports may frame the launch page: one for each file of tests that serves them. */
function framingHost(settings: Record<string, string>, ports: readonly number[]): Record<string, string> {
  const [origin = '', bindingOrigin = ''] = ports.map((port) => `http://127.0.0.1:${port}`)
  const keys = keysFor(settings, 'EMBED', 'Acceptance Embed')
  const brand = { name: 'Harbour Books', primary: '#7a1f3d' }
  const changes = [`embedOrigins=${JSON.stringify([origin, bindingOrigin])}`, `brand=${JSON.stringify(brand)}`]
  ostiary(settings, 'tenants', 'settings', 'Acceptance Embed', ...changes.flatMap((change) => ['--set', change]))
  return { ...keys, OSTIARY_EMBED_ORIGIN: origin, OSTIARY_BINDING_ORIGIN: bindingOrigin }
}

/** A second dataset besides `demo`: invented people. One person is on both. */
const LIST = `id,name,dob
acceptance-1,Quimbley Nordvasser,1970-02-03
acceptance-2,Vardo Quellmar,1961-04-17
`

function importList(settings: Record<string, string>, path: string): void {
  writeFileSync(path, LIST)
  ostiary(settings, 'datasets', 'import', 'acceptance_list', path)
}
