/** An installation whose API runs as a process of its own, as it does for a person at a terminal. Only tests import this. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@ostiary/sdk'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createInstallation, type Installation } from './installation.ts'

export interface RunningApi extends Installation {
  /** `env.OSTIARY_API_KEY` is the test key. */
  liveKey: string
  client(): ReturnType<typeof createClient>
}

/**
 * Every device of a file calls from one address, whose calls are limited, so a file must not play too many sessions: another file has an API
 * of its own.
 */
export async function startApi(name: string, settings: Readonly<Record<string, string>> = {}): Promise<RunningApi> {
  const folder = temporaryFolder('simulate')
  const [port, adminPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const installation = await createInstallation(name, {
    SANCTIONS_DIR: folder,
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    PUBLIC_URL: url,
    OSTIARY_URL: url,
    ...settings,
  })
  const { env, cli } = installation
  await cli('migrate')
  await cli('tenants create Fjord')
  const makeKey = async (mode: string) => (await cli(`keys create --tenant Fjord --${mode} --plan unmetered`)).out
  const apiKey = await makeKey('test')
  env.OSTIARY_API_KEY = apiKey
  const liveKey = await makeKey('live')
  const main = new URL('../../../server/src/main-api.ts', import.meta.url)
  const api = spawn(process.execPath, [main.pathname], { env: { ...process.env, ...env }, stdio: 'ignore' })
  after(async () => {
    api.kill('SIGKILL')
    await once(api, 'exit')
  })
  const isUp = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let tries = 0; tries < 900 && !(await isUp()); tries++) await sleep(100)
  return { ...installation, liveKey, client: () => createClient({ baseUrl: url, apiKey }) }
}

/** Picks a port outside the ephemeral range: another process could get an ephemeral one before the server listens, seconds later. */
async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(randomInt(12_000, 32_000), '127.0.0.1')
    const address = await once(server, 'listening').then(
      () => server.address(),
      () => null,
    )
    server.close()
    if (typeof address === 'object' && address) return address.port
  }
}
