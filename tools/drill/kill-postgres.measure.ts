/** kill -9 of PostgreSQL, postmaster and children, in the middle of 1,000 creates, three times. The API stays up. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { ApiKeyRecord } from '@ostiary/contract'
import { killWhileCreating } from '../lib/creates.ts'
import { testSettings } from '../lib/databases.ts'
import type { Measure } from '../lib/figure.ts'
import { ostiary, ROOT, sleep, startApi, startServices, stopServices } from '../lib/run.ts'

// A cluster of its own: killing the one that other runs use would not be polite.
const CLUSTER = 'drill'

export const measure: Measure = async ({ full, say }) => {
  stopServices(CLUSTER, 'wipe')
  const settings = testSettings(startServices(CLUSTER))
  const api = await startApi({ env: settings, logName: 'drill-kill-postgres' })
  const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Drill')
  const key = ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
  try {
    const figures = await killWhileCreating({
      name: 'kill-postgres',
      full,
      say,
      apiKey: key.api_key,
      baseUrl: () => api.url,
      async killAndRestart(acknowledged) {
        const processes = killPostgres()
        say(`killed PostgreSQL (${processes} processes) at ${acknowledged} acknowledged creates`)
        await sleep(300)
        startServices(CLUSTER)
      },
    })
    const survived = await Promise.race([api.exited.then(() => 0), sleep(10).then(() => 1)])
    return [...figures, { name: 'kill-postgres.api-survived', value: survived, floor: 1, is: 'least' }]
  } finally {
    await api.stop('SIGKILL')
    stopServices(CLUSTER, 'wipe')
  }
}

/** Ends every process of this cluster at once, as a power cut of the database would. Returns how many. */
function killPostgres(): number {
  const data = readFileSync(`${ROOT}.services/${CLUSTER}/data-folder`, 'utf8').trim()
  const postmaster = Number(readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n')[0])
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself when the postmaster died.
    }
  }
  return children.length + 1
}
