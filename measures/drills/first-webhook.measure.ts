/**
 * From a fresh clone to the first webhook at `ostiary listen`, on a port of one's own, as the README says it: a receiver, `npm run dev`, `listen` and
 * `trigger`. What tools/bootstrap would bring (packages and models) is copied from this checkout, and is not counted.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signWebhook } from '@ostiary/crypto'
import { eventually } from '@ostiary/testkit/eventually'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { freePorts, ROOT } from '@ostiary/testkit/run'

type Env = Record<string, string>

export const measure: Measure = async ({ say }) => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-clone-'))
  const clone = join(folder, 'ostiary')
  cloneTo(clone)
  say('cloned')
  const [port = 0, adminPort = 0, workerPort = 0] = await freePorts(3)
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), WORKER_ADMIN_PORT: String(workerPort) }
  const env: Env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ...(process.env.OSTIARY_DATA && { OSTIARY_DATA: process.env.OSTIARY_DATA }),
  }
  const started: ChildProcess[] = []
  const commands: string[] = ['node receiver.mjs']
  const npm = (args: string[], extra: Env = {}) => {
    commands.push(`npm ${args.join(' ')}`)
    const child = spawn('npm', args, {
      cwd: clone,
      env: { ...env, ...extra },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    child.stdout?.resume()
    started.push(child)
    return child
  }
  const receiver = await startReceiver()
  try {
    const startedMs = performance.now()
    npm(['run', 'dev'], ports)
    await eventually(() => isUp(`http://127.0.0.1:${port}/health`), 'npm run dev does not start')
    say('npm run dev answers')
    npm(['run', '-s', 'ostiary', '--', 'listen', '--forward', receiver.url])
    await eventually(
      () => globSync('.local/state/ostiary/listen/*.json', { cwd: folder }).length > 0,
      'listen does not begin',
    )
    const [code] = await once(npm(['run', '-s', 'ostiary', '--', 'trigger', 'age.session.completed']), 'exit')
    if (code !== 0) throw new Error(`trigger ended with ${code}`)
    const first = await eventually(() => receiver.first())
    const seconds = (performance.now() - startedMs) / 1000
    say(`${first.event} has arrived`)
    const apiKey = readFileSync(join(clone, '.dev/test-api-key'), 'utf8').trim()
    const isSigned = (await signWebhook(apiKey, first.timestamp, first.body)) === first.signature
    return [
      { name: 'first-webhook.commands', value: commands.length, floor: 6, is: 'most' },
      { name: 'first-webhook.signed', value: isSigned ? 1 : 0, floor: 1, is: 'least' },
      { name: 'first-webhook.seconds', value: seconds, floor: 90, is: 'most', load: true },
    ]
  } finally {
    await Promise.all(started.reverse().map(endGroup))
    receiver.close()
    execFileSync(join(clone, 'tools/services'), ['wipe'], { stdio: 'ignore' })
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Links of the workspaces are relative: in the copy they lead to the clone. */
function cloneTo(clone: string): void {
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone])
  for (const brought of ['node_modules', '.models']) {
    if (existsSync(join(ROOT, brought))) execFileSync('cp', ['-a', join(ROOT, brought), join(clone, brought)])
  }
}

async function startReceiver() {
  let found: { event: string; timestamp: string; signature: string; body: string } | undefined
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const header = (name: string) => String(request.headers[name])
    found ??= {
      event: header('x-service-event'),
      timestamp: header('x-service-timestamp'),
      signature: header('x-service-signature'),
      body,
    }
    response.writeHead(200).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hook`,
    first: () => found,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const isUp = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

/** npm starts further processes: all of its group end. */
async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await ended
}
