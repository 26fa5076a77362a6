/** kill -9 of the API process in the middle of 1,000 creates, three times: nothing acknowledged may be missing. */
import type { ApiKeyRecord } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { freePorts, ostiary, type Started, startApi, startServices } from '@ostiary/testkit/run'
import { killWhileCreating } from './creates.ts'

export const measure: Measure = async ({ full, say }) => {
  const database = await createDatabase(startServices(), 'drill')
  const [port = 0, adminPort = 0] = await freePorts(2)
  const settings = { ...testSettings(database.url), PORT: String(port), ADMIN_PORT: String(adminPort) }
  const start = () => startApi({ env: settings, logName: 'drill-kill-api' })
  let api: Started = await start()
  const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Drill')
  const key = ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
  try {
    return await killWhileCreating({
      name: 'kill-api',
      full,
      say,
      apiKey: key.api_key,
      baseUrl: () => api.url,
      async killAndRestart(acknowledged) {
        await api.stop('SIGKILL')
        say(`killed at ${acknowledged} acknowledged creates`)
        api = await start()
      },
    })
  } finally {
    await api.stop('SIGKILL')
    await database.drop()
  }
}
