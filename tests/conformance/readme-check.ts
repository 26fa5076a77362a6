/**
 * Pastes the README's shell commands one by one, as a newcomer would: starts `npm run dev`, waits for its banner, and runs
 * the rest in one shell. Every command must succeed; curl must get a success. Where port 8080 is taken, another is used.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { freePorts, isFree, ROOT, sleep } from '@ostiary/testkit/run'

const blocks = [...readFileSync(`${ROOT}README.md`, 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(
  (match) => match[1] ?? '',
)
const commands = blocks.flatMap((block) => block.split('\n')).filter((line) => line !== '' && !line.startsWith('#'))
const devAt = commands.indexOf('npm run dev')
if (devAt < 0) throw new Error('The README does not start anything')

for (const command of commands.slice(0, devAt)) {
  const { status } = spawnSync('bash', ['-c', command], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error(`"${command}" failed`)
}
const env = { ...process.env, ...(await otherPortsIfTaken()) }
const dev = spawn('npm', ['run', 'dev'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
try {
  await banner(dev)
  const script = commands
    .slice(devAt + 1)
    .map((line) => line.replaceAll('curl -s', 'curl -sS --fail-with-body'))
    .map((line) => line.replaceAll('localhost:8080', `localhost:${env.PORT ?? 8080}`))
    .join('\n')
  const { status } = spawnSync('bash', ['-x', '-e', '-o', 'pipefail', '-c', script], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('A command of the README failed')
  console.log(`\nreadme: all ${commands.length} commands work`)
} finally {
  process.kill(-(dev.pid ?? 0), 'SIGTERM')
}

async function banner(child: ChildProcess): Promise<void> {
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  // A first start builds the launch page.
  for (let tries = 0; tries < 1_200; tries++) {
    if (/test key {4}ost_test_[0-9a-z]{60}/.test(output)) return
    if (child.exitCode !== null) break
    await sleep(100)
  }
  throw new Error(`npm run dev did not come up:\n${output}`)
}

async function otherPortsIfTaken(): Promise<Record<string, string>> {
  const usual = await Promise.all([8080, 9400, 9401].map(isFree))
  if (usual.every(Boolean)) return {}
  const [port, adminPort, workerPort] = await freePorts(3)
  return { PORT: String(port), ADMIN_PORT: String(adminPort), WORKER_ADMIN_PORT: String(workerPort) }
}
