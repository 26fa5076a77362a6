import pg from 'pg'
import type { CuttingProxy } from './cutting-proxy.ts'

const PAUSE_MS = 40

/** A connection that the faults spare. */
export async function connectSpared(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: SPARED })
  await client.connect()
  return client
}
const SPARED = 'drill'

/** Cancels and terminates what runs in a database, and cuts its connections, until it is stopped. Returns how often. */
export async function startFaults(
  databaseUrl: string,
  proxy: CuttingProxy,
  random: () => number,
): Promise<{ stop(): Promise<number> }> {
  const client = await connectSpared(databaseUrl)
  let isStopped = false
  let count = 0

  const onOneBackend = async (what: 'pg_cancel_backend' | 'pg_terminate_backend') => {
    const { rowCount } = await client.query(
      `select ${what}(pid) from (
         select pid from pg_stat_activity where datname = current_database() and application_name <> '${SPARED}' order by random() limit 1
       ) as one`,
    )
    return rowCount === 1
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const chance = random()
      const didHappen =
        chance < 0.5
          ? await onOneBackend('pg_cancel_backend')
          : chance < 0.75
            ? await onOneBackend('pg_terminate_backend')
            : proxy.cut()
      if (didHappen) count++
      await new Promise((resolve) => setTimeout(resolve, random() * PAUSE_MS))
    }
  }
  const running = run()
  return {
    async stop() {
      isStopped = true
      await running
      await client.end()
      return count
    },
  }
}
