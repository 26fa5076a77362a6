/**
 * SIGTERM in every moment of the start of API and worker, with a reader of the log and with one that is gone: each process must end, and
 * the slowest within the sum of its deadlines, 16 seconds. Every 600 ms of the first 5 seconds and at the moment of readiness; --full: every 50 ms.
 */
import { spawn } from 'node:child_process'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { COMPILED, freePorts, ROOT, sleep, startApi, startServices, startWorker } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'

const FIRST_MS = 5_000
const LIMIT_SECONDS = 16
/** A process that has not ended by now never ends. One that is only slow is a matter of `stop-anytime.slowest-seconds`. */
const GIVE_UP_MS = 90_000
const AT_ONCE = 3

type Script = 'main-api.ts' | 'main-worker.ts'

interface Case {
  script: Script
  /** How long after the start, or when it says that it is ready. */
  after: number | 'ready'
  hasReader: boolean
}

export const measure: Measure = async ({ full, say }) => {
  const database = await createDatabase(startServices(), 'drill')
  const settings = testSettings(database.url)
  try {
    // The first start migrates and compiles, which is not the start of every day.
    for (const start of [startApi, startWorker]) await (await start({ env: settings, logName: 'drill-stop' })).stop()
    const cases = listCases(full ? 50 : 600)
    const endedMs: number[] = []
    let signalled = 0
    await inParallel(cases.length, AT_ONCE, async (index) => {
      const one = cases[index]
      if (!one) return
      const { tookMs, end } = await startAndStop(one, settings)
      if (end !== 'SIGKILL') endedMs.push(tookMs)
      else say(`${describe(one)}: did not end within ${GIVE_UP_MS / 1000} s and was killed`)
      if (end === 'SIGTERM') signalled++
      else if (end !== 0) say(`${describe(one)}: ended with ${end} after ${Math.round(tookMs)} ms`)
    })
    say(`${cases.length} signals; ${signalled} processes had nothing to end in order yet`)
    return [
      { name: 'stop-anytime.ended', value: endedMs.length, floor: cases.length, is: 'least' },
      {
        name: 'stop-anytime.slowest-seconds',
        value: Math.max(...endedMs) / 1000,
        floor: LIMIT_SECONDS,
        is: 'most',
        load: true,
      },
    ]
  } finally {
    await database.drop()
  }
}

function listCases(everyMs: number): Case[] {
  const cases: Case[] = []
  for (const script of ['main-api.ts', 'main-worker.ts'] as const) {
    for (let after = everyMs; after <= FIRST_MS; after += everyMs)
      cases.push({ script, after, hasReader: (after / everyMs) % 2 === 0 })
    for (const hasReader of [true, false]) cases.push({ script, after: 'ready', hasReader })
  }
  return cases
}

function describe({ script, after, hasReader }: Case): string {
  return `${script} ${after === 'ready' ? 'when ready' : `after ${after} ms`}${hasReader ? '' : ', nobody reads its log'}`
}

/** Returns how long the process took to end after the signal, and how: its exit code, or the signal that ended it. */
async function startAndStop({ script, after, hasReader }: Case, settings: Record<string, string>) {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), WORKER_ADMIN_PORT: String(adminPort) }
  const child = spawn(process.execPath, [`${ROOT}apps/server/src/${script}`], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...settings, ...ports },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const output of [child.stdout, child.stderr]) {
    if (hasReader) output.resume()
    else output.destroy()
  }
  const exited = new Promise<number | string | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal))
  })
  if (after === 'ready') await waitUntilReady(adminPort)
  else await sleep(after)
  const began = performance.now()
  child.kill('SIGTERM')
  const deadline = setTimeout(() => child.kill('SIGKILL'), GIVE_UP_MS)
  const end = await exited
  clearTimeout(deadline)
  return { tookMs: performance.now() - began, end }
}

async function waitUntilReady(port: number): Promise<void> {
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) await sleep(5)
}
