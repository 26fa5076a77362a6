/** Starts `npm run dev` as the README says, with a database and lists of its own, so that documents may change whatever they like. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase } from '@ostiary/testkit/databases'
import { freePorts, isFree, ROOT, sleep, startServices } from '@ostiary/testkit/run'

export interface Installation {
  url: string
  apiKey: string
  /** For commands that speak to its database. */
  env: Record<string, string>
  /** Everything that it printed. */
  log(): string
  stop(): Promise<void>
}

/** What `npm run dev` keeps in the clone for the next start. */
const KEPT = ['env', 'test-api-key'].map((name) => `${ROOT}.dev/${name}`)

export async function startInstallation(folder: string, ports: ReadonlyMap<number, number>): Promise<Installation> {
  const before = KEPT.map((file) => [file, existsSync(file) ? readFileSync(file) : undefined] as const)
  const database = await createDatabase(startServices(), 'documents')
  const env = {
    DATABASE_URL: database.url,
    SANCTIONS_DIR: join(folder, 'lists'),
    PORT: String(ports.get(8080)),
    ADMIN_PORT: String(ports.get(9400)),
    WORKER_ADMIN_PORT: String(ports.get(9401)),
  }
  const child = spawn('npm', ['run', 'dev'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(String(chunk)))
  const log = () => printed.join('')
  const stop = async () => {
    await end(child)
    await database.drop()
    for (const [file, content] of before)
      if (content) writeFileSync(file, content, { mode: 0o600 })
      else rmSync(file, { force: true })
  }
  try {
    return { url: `http://localhost:${env.PORT}`, apiKey: await banner(child, log), env, log, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The key on the banner. A first start builds the launch page. */
async function banner(child: ChildProcess, log: () => string): Promise<string> {
  for (let tries = 0; tries < 1_200 && child.exitCode === null; tries++) {
    const key = /test key {4}(ost_test_[0-9a-z]{60})/.exec(log())?.[1]
    if (key) return key
    await sleep(100)
  }
  throw new Error(`npm run dev did not come up:\n${log()}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-(child.pid ?? 0), 'SIGTERM')
  await ended
}

/** The ports that documents name, each with itself while it is free, else with another. */
export async function portsHere(named: readonly number[]): Promise<Map<number, number>> {
  const all = [...new Set([8080, 9400, 9401, ...named])]
  const others = await freePorts(all.length)
  const free = await Promise.all(all.map(isFree))
  return new Map(all.map((port, at) => [port, free[at] ? port : (others[at] ?? port)]))
}
