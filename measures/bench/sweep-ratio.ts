/**
 * Ends live sessions that nobody opened, in turns with a bare batched update of the same rows in the same partition, and prints the processor
 * time of both: this process and the backends of PostgreSQL. The bare statement knows which day it is, checks nothing and counts nothing.
 */
import { createWire, loadConfig } from '@ostiary/server/measure'
import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import pg from 'pg'

const WARM_UP_TURNS = 2
const TURN_SESSIONS = 2_000
const BARE_LIMIT = 1_000

const config = loadConfig(process.env)
const wire = createWire(config, { role: 'cli' })
const { ending } = wire.age
const [cell] = wire.platform.cells.all()
if (!cell) throw new Error('There is no cell')
await ending.arrangeLateResults(cell.db)
const client = new pg.Client(process.env.DATABASE_URL)
await client.connect()
const partition = process.env.PARTITION ?? ''
const BARE = {
  name: 'bare',
  text: `update ${partition} set state = 'EXPIRED', ended_at = $1, purge_at = $1 + interval '1 day'
    where ctid = any(array(select ctid from ${partition} where ended_at is null and due_at <= $1 and area = 'C'
      order by due_at limit ${BARE_LIMIT} for update skip locked))`,
}

const runners = {
  ours: () => ending.expireDue(cell.db),
  bare: async () => (await client.query({ ...BARE, values: [new Date()] })).rowCount ?? 0,
}
type Side = keyof typeof runners

/** All backends of this database: the ones that do nothing cost nothing. */
async function usedMs(): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and backend_type = $1',
    ['client backend'],
  )
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + rows.reduce((sum, { pid }) => sum + processorMs(pid), 0)
}

async function turn(side: Side): Promise<number | undefined> {
  const before = await usedMs()
  let ended = 0
  while (ended < TURN_SESSIONS) {
    const count = await runners[side]()
    if (count === 0) return undefined
    ended += count
  }
  return ((await usedMs()) - before) / ended
}

const costs: Record<Side, number[]> = { bare: [], ours: [] }
for (let round = 0; ; round++) {
  const order: Side[] = round % 2 === 0 ? ['bare', 'ours'] : ['ours', 'bare']
  const [first, second] = [await turn(order[0] ?? 'bare'), await turn(order[1] ?? 'ours')]
  if (first === undefined || second === undefined) break
  if (round < WARM_UP_TURNS) continue
  costs[order[0] ?? 'bare'].push(first * 1000)
  costs[order[1] ?? 'ours'].push(second * 1000)
}
process.stdout.write(JSON.stringify(costs))
await client.end()
await wire.close()
process.exit(0)
