/**
 * `npm run dev`: a working installation in one command. Starts the private database, brings it up to date, builds the launch
 * page and the packages when their sources changed, starts API and worker (restarted when a file changes), and prints a test API key and a
 * launch URL that are ready to use.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { withServices } from '@ostiary/server/operate'
import { provideLaunchPage } from '@ostiary/testkit/launch-page'
import { isFree, ROOT, sleep, startServices } from '@ostiary/testkit/run'
import { providePackages } from './packages.ts'
import { envFileOf, withDevDefaults } from './settings.ts'

const folder = `${ROOT}.dev`
const SCOPES = ['strings:rw', 'sanctions:run', 'age:write', 'age:read', 'verify:write', 'verify:read', 'node:*']

function settings(databaseUrl: string): Record<string, string> {
  mkdirSync(folder, { recursive: true })
  const masterKeyFile = `${folder}/master.key`
  if (!existsSync(masterKeyFile))
    writeFileSync(masterKeyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  return { DATABASE_URL: databaseUrl, MASTER_KEY_FILE: masterKeyFile, ...definedOnly(process.env) }
}

/** Written at every start: the address, and perhaps the key, are others than last time. */
function keepForCommands(env: Record<string, string>, connection: { url: string; key: string }): void {
  const file = `${folder}/env`
  writeFileSync(file, envFileOf(env, connection), { mode: 0o600 })
  // The mode above counts only for a file that was not there.
  chmodSync(file, 0o600)
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** The key of the last run while it still works, else a new one. Only ever a test key of this machine's database. */
async function testKey(env: Record<string, string>): Promise<string> {
  const file = `${folder}/test-api-key`
  return withServices(env, async ({ keys, migrate }) => {
    await migrate((_cell, name) => console.log(`migration ${name}`))
    if (existsSync(file)) {
      const saved = readFileSync(file, 'utf8').trim()
      const checked = async () => keys.check(saved, { scope: 'strings:rw', address: '127.0.0.1' })
      if (await isFulfilled(checked())) return saved
    }
    const tenants = await keys.listTenants()
    const tenant = tenants.find(({ name }) => name === 'dev') ?? (await keys.createTenant('dev'))
    const { api_key } = await keys.createKey(tenant.tenantId, {
      livemode: false,
      name: 'npm run dev',
      scopes: SCOPES,
      allowedIps: [],
    })
    writeFileSync(file, `${api_key}\n`, { mode: 0o600 })
    return api_key
  })
}

const isFulfilled = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

const PORTS = { PORT: 8080, ADMIN_PORT: 9400, WORKER_ADMIN_PORT: 9401 }

/** Checks the ports here, because a process under `--watch` that cannot start only waits for a file change. */
async function refuseBusyPort(name: string, port: number): Promise<void> {
  if (!(await isFree(port))) {
    console.error(`Port ${port} is in use. Choose another: ${name}=${port + 1} npm run dev`)
    process.exit(1)
  }
}

async function isReady(url: string): Promise<boolean> {
  for (let tries = 0; tries < 1200; tries++) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok) return true
    await sleep(100)
  }
  return false
}

/** Without the page or the packages everything else still works, and their addresses say what is missing. */
function tryToProvide(name: string, provide: (say: (text: string) => void) => void): void {
  try {
    provide(console.log)
  } catch {
    console.error(`${name} could not be made: the output above says why. All the rest is started without it.`)
  }
}

/** A session to be tried out in a browser on this machine. */
async function newLaunchUrl(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/session`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      redirectUrl: `${url}/health`,
      ageThreshold: 30,
      stepUpEnabled: true,
      documentInDoubt: true,
      documentAgeThreshold: 18,
      enableDesktop: true,
      sessionExpiry: 3600,
    }),
  })
  const { launchUrl } = (await response.json()) as { launchUrl?: string }
  return launchUrl ?? `none: the session was refused with ${response.status}`
}

async function main(): Promise<void> {
  const env = withDevDefaults(settings(startServices()))
  for (const [name, fallback] of Object.entries(PORTS)) await refuseBusyPort(name, Number(env[name] ?? fallback))
  const key = await testKey(env)
  const url = `http://localhost:${env.PORT ?? 8080}`
  keepForCommands(env, { url, key })
  tryToProvide('The launch page', provideLaunchPage)
  tryToProvide('What /sdk/ serves', providePackages)
  const children = ['api', 'worker'].map((name) =>
    spawn(process.execPath, ['--watch', '--watch-preserve-output', `${ROOT}apps/server/src/main-${name}.ts`], {
      env,
      stdio: 'inherit',
    }),
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      for (const child of children) child.kill(signal)
    })
  const adminUrl = `http://localhost:${env.ADMIN_PORT ?? 9400}`
  if (!(await isReady(`${url}/readyz`))) {
    for (const child of children) child.kill()
    throw new Error('The API did not get ready within 120 s: its output above says why')
  }
  console.log(`
  Ostiary is running on ${url}

    health      curl ${url}/health
    reference   ${adminUrl}/reference
    metrics     ${adminUrl}/metrics
    test key    ${key}
    launch page ${await newLaunchUrl(url, key)}
    lists       only the invented one, demo. Public ones: npm run -s ostiary -- datasets enable ofac un [--from FOLDER]
    webhooks    public addresses${env.OUTBOUND_ALLOW_NETWORKS === '' ? '' : `, and ${env.OUTBOUND_ALLOW_NETWORKS}`}: docs/webhooks.md

    curl ${url}/strings -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '{"value":"hello"}'

  Stop with Ctrl-C. The database keeps running: tools/services stop
`)
  const codes = await Promise.all(
    children.map((child) => new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 0)))),
  )
  process.exitCode = Math.max(...codes)
}

await main()
