/** kill -9 of the API process in the middle of 1,000 creates, three times: nothing acknowledged may be missing. */
import type { ApiKeyRecord } from '@ostiary/contract'
import { createMany, verifyCreates } from '../lib/creates.ts'
import { createDatabase, testSettings } from '../lib/databases.ts'
import type { Measure } from '../lib/figure.ts'
import { freePorts, ostiary, type Started, startApi, startServices } from '../lib/run.ts'

export const measure: Measure = async ({ full, say }) => {
  const count = full ? 10_000 : 1_000
  const kills = full ? 10 : 3
  const database = await createDatabase(startServices(), 'drill')
  const [port = 0, adminPort = 0] = await freePorts(2)
  const settings = { ...testSettings(database.url), PORT: String(port), ADMIN_PORT: String(adminPort) }
  const start = () => startApi({ env: settings, logName: 'drill-kill-api' })
  let api: Started = await start()
  const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Drill')
  const { api_key } = ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
  let killed = 0
  let restarting = Promise.resolve()
  try {
    const run = await createMany({
      baseUrl: api.url,
      apiKey: api_key,
      count,
      workers: 8,
      onAcknowledged(total) {
        if (total < ((killed + 1) * count) / (kills + 1) || killed === kills) return
        killed++
        restarting = restarting.then(async () => {
          await api.stop('SIGKILL')
          say(`killed at ${total} acknowledged creates`)
          api = await start()
        })
      },
    })
    await restarting
    const { lost, duplicates, stored } = await verifyCreates(api.url, api_key, run)
    say(
      `${run.acknowledged.size} acknowledged, ${stored} stored, ${run.failures} calls failed on the way and were repeated`,
    )
    return [
      { name: 'kill-api.kills', value: killed, floor: kills, is: 'least' },
      { name: 'kill-api.acknowledged', value: run.acknowledged.size, floor: count, is: 'least' },
      { name: 'kill-api.lost', value: lost, floor: 0, is: 'most' },
      { name: 'kill-api.duplicates', value: duplicates, floor: 0, is: 'most' },
    ]
  } finally {
    await api.stop('SIGKILL')
    await database.drop()
  }
}
