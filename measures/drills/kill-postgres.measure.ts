/** kill -9 of PostgreSQL, postmaster and children, in the middle of 1,000 creates, three times. The API stays up. */
import type { ApiKeyRecord } from '@ostiary/contract'
import { testSettings } from '@ostiary/testkit/databases'
import { PRODUCT_LIMITS } from '@ostiary/testkit/limits'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { ostiary, sleep, startApi, startServices, stopServices } from '@ostiary/testkit/run'
import { killWhileCreating } from './creates.ts'
import { killPostgres } from './postgres-kill.ts'

// A cluster of its own, because the drill kills it and other runs use the shared one.
const CLUSTER = 'drill'

export const measure: Measure = async ({ full, say }) => {
  stopServices(CLUSTER, 'wipe')
  const settings = testSettings(startServices(CLUSTER))
  const api = await startApi({ env: { ...settings, ...PRODUCT_LIMITS }, logName: 'drill-kill-postgres' })
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
        const processes = await killPostgres(CLUSTER)
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
