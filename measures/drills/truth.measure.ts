/**
 * What the service says while its store or its worker is wrong: nine faults × health, readiness, metric, doctor and the status of a call. No
 * cell may say fine, and none is 500; after each fault all say fine again. The primary and the replica are the drill's own.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { missingPostgres } from '@ostiary/testkit/missing'
import { sleep } from '@ostiary/testkit/run'
import { fill, mountSmallDisk, type Scene, setScene, unmountSmallDisk } from './truth-scene.ts'

interface Fault {
  name: string
  happen(): Promise<unknown>
  mend(): Promise<unknown>
  /** The API goes on storing, so that its readiness and its answers are as before: those of the worker count. */
  of?: 'worker' | undefined
  /** Whose readiness it takes, where that is not of both. A worker meets a full disk when it next writes, with its tasks of each minute. */
  readyOf?: ('api' | 'worker')[]
  /** A row may still find room in a page and is stored, until one does not. */
  hasRoom?: boolean
  /** What doctor has to name. */
  named?: RegExp
  /** Within how many seconds everything says so, where that is not at once. */
  within?: number
}

interface Said {
  health: string
  ready: string
  metric: string
  doctor: string
  call: string
}

const WITHIN_MS = 90_000
/** How late the last cell may say so: with the first call that meets the fault, and a busy machine. */
const AT_ONCE_SECONDS = 5
/** Without its replica a commit hangs for seconds. */
const HANGS_SECONDS = 10
/** Health gives a worker 30 s to come back, its lease is good for 5 s, and metrics look every 10 s. */
const WORKER_SECONDS = 60
/** A process with a wrong clock takes the place of the worker, and starts first. */
const CLOCK_SECONDS = 75
const EVERY_MS = 250
/** The default of DATABASE_POOL_MAX. */
const POOL = 8

export const measure: Measure = async ({ say }) => {
  const missing = missingPostgres()
  if (missing) {
    say(`skipped: ${missing}`)
    return []
  }
  const disk = mountSmallDisk()
  if (!disk) say('skipped: disk full, because no file system can be mounted here')
  const scene = await setScene(disk)
  const count = { rows: 0, fine: 0, stuck: 0, notMended: 0 }
  const lates: Figure[] = []
  const table = [`fault | health | ready | metric | doctor | call | true after`]
  try {
    for (const fault of listFaults(scene, disk)) {
      await fault.happen()
      const seconds = await secondsUntilTrue(scene, fault)
      const name = `truth.seconds-${fault.name.replaceAll(' ', '-')}`
      const floor = fault.within ?? AT_ONCE_SECONDS
      lates.push({ name, value: Math.max(...Object.values(seconds)), floor, is: 'most' })
      count.stuck = Math.max(count.stuck, await burden(scene, fault))
      const said = { ...(await look(scene, fault)), doctor: await scene.doctor() }
      const fine = fineOf(fault, said)
      count.rows++
      count.fine += fine.length
      const times = Object.entries(seconds).map(([cell, after]) => `${cell} ${after.toFixed(1)} s`)
      table.push([fault.name, ...Object.values(said), times.join(', ')].join(' | '))
      say(`${table.at(-1)}${fine.length > 0 ? ` SAYS FINE: ${fine.join(', ')}` : ''}`)
      await fault.mend()
      const secondsToMend = await mended(scene)
      if (secondsToMend === undefined) count.notMended++
      say(`${fault.name}: all is well again after ${secondsToMend?.toFixed(1) ?? 'more than 90'} s`)
    }
    for (const line of table) say(line)
    return [
      { name: 'truth.rows', value: count.rows, floor: disk ? 9 : 8, is: 'least' },
      { name: 'truth.cells-that-say-fine', value: count.fine, floor: 0, is: 'most' },
      { name: 'truth.faults-that-stay', value: count.notMended, floor: 0, is: 'most' },
      { name: 'truth.calls-answered-500', value: scene.of500(), floor: 0, is: 'most' },
      ...lates,
      { name: 'truth.stuck-backends', value: count.stuck, floor: 2 * POOL - 1, is: 'most' },
    ]
  } finally {
    await scene.remove()
    if (disk) unmountSmallDisk(disk)
  }
}

function listFaults(scene: Scene, disk: string | undefined): Fault[] {
  const { primary, replica, admin, proxy, create } = scene
  const altered = (name: string, wrong: string, right: string): Fault => ({
    name,
    async happen() {
      await admin.query(wrong)
      proxy.cut()
    },
    mend: () => admin.query(right),
  })
  const rename = async (from: string, to: string) => {
    const isDone = () =>
      admin.query(`alter database ${from} rename to ${to}`).then(
        () => true,
        () => false,
      )
    // A process may log in between the two statements.
    do await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`)
    while (!(await isDone()))
  }
  const readOnly = (on: string) => () => primary.configure({ default_transaction_read_only: on })
  const filler = disk && join(disk, 'filler')
  return [
    altered('wrong password', `alter role app password 'other'`, `alter role app password 'app'`),
    altered('no login', 'alter role app nologin', 'alter role app login'),
    { name: 'read-only', happen: readOnly('on'), mend: readOnly('off') },
    {
      name: 'standby',
      happen: async () => proxy.leadTo(replica.port),
      mend: async () => proxy.leadTo(primary.port),
    },
    { name: 'database dropped', happen: () => rename('app', 'away'), mend: () => rename('away', 'app') },
    {
      name: 'replica gone',
      within: HANGS_SECONDS,
      happen: () => replica.stop('immediate'),
      mend: () => replica.start(),
    },
    {
      name: 'clock off',
      of: 'worker',
      named: /worker: none.* clock/,
      within: CLOCK_SECONDS,
      happen: () => scene.startWorker({ isClockWrong: true }),
      mend: () => scene.startWorker(),
    },
    {
      name: 'worker gone',
      of: 'worker',
      within: WORKER_SECONDS,
      happen: () => scene.stopWorker(),
      mend: () => scene.startWorker(),
    },
    ...(filler
      ? [
          {
            name: 'disk full',
            readyOf: ['api' as const],
            hasRoom: true,
            happen: async () => {
              // What there was before has room for some calls more.
              do fill(filler)
              while ((await create()) === 201)
            },
            mend: async () => rmSync(filler, { force: true }),
          },
        ]
      : []),
  ]
}

/** How long it takes until everything says that all is well; undefined when something never does. */
async function mended(scene: Scene): Promise<number | undefined> {
  const startedMs = performance.now()
  const isWell = async (of?: 'worker') => {
    const { health, ready, metric, call } = await look(scene, { of })
    return (
      health === 'ok' &&
      ready.split(', ').every((each) => each.endsWith(' 200')) &&
      !metric.endsWith(' 0') &&
      call === '201'
    )
  }
  while (!((await isWell()) && (await isWell('worker')))) {
    if (performance.now() - startedMs > WITHIN_MS) return undefined
    await sleep(200)
  }
  return (performance.now() - startedMs) / 1000
}

type Cells = Omit<Said, 'doctor'>
type Subject = Pick<Fault, 'of' | 'readyOf' | 'hasRoom'>

/** How each cell is asked. Of a fault of the store API and worker have to leave their load balancers. */
function askersOf(
  { api, readyz, create }: Scene,
  { of, readyOf, hasRoom }: Subject,
): Record<keyof Cells, () => Promise<string>> {
  const name = of === 'worker' ? 'ostiary_workers' : 'ostiary_db_up'
  return {
    async health() {
      const health = (await (await fetch(`${api.url}/health`)).json()) as { details?: Record<string, string> }
      return Object.values(health.details ?? {}).join('; ') || 'ok'
    },
    async ready() {
      const processes = readyOf ?? (of === 'worker' ? ['worker' as const] : ['api' as const, 'worker' as const])
      return (await Promise.all(processes.map(async (each) => `${each} ${await readyz(each)}`))).join(', ')
    },
    async metric() {
      const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text()
      return `${name} ${new RegExp(`^${name}\\{cell="main"\\} (\\S+)$`, 'm').exec(metrics)?.[1]}`
    },
    async call() {
      let status = await create()
      for (let n = 0; hasRoom && status === 201 && n < 500; n++) status = await create()
      return String(status)
    },
  }
}

async function look(scene: Scene, subject: Subject): Promise<Said> {
  const { health, ready, metric, call } = askersOf(scene, subject)
  return {
    health: await health(),
    ready: await ready(),
    metric: await metric(),
    doctor: 'not asked',
    call: await call(),
  }
}

/**
 * When each cell said the truth for the first time. All are asked every quarter of a second, whatever becomes of the questions before: a call
 * that hangs does not keep the next one from its answer.
 */
async function secondsUntilTrue(scene: Scene, fault: Fault): Promise<Record<keyof Cells, number>> {
  const startedMs = performance.now()
  const seconds = () => (performance.now() - startedMs) / 1000
  const askers = Object.entries(askersOf(scene, fault)) as [keyof Cells, () => Promise<string>][]
  const asked: Promise<unknown>[] = []
  const times = askers.map(async ([cell, ask]) => {
    // Of a fault of the worker calls are answered as before.
    if (cell === 'call' && fault.of === 'worker') return [cell, 0]
    let after: number | undefined
    while (after === undefined && seconds() * 1000 < WITHIN_MS) {
      const isTrue = ask().then((answer) => {
        if (!isFine(fault, cell, answer)) after ??= seconds()
      })
      asked.push(isTrue)
      await Promise.race([isTrue, sleep(EVERY_MS)])
      if (after === undefined) await sleep(EVERY_MS)
    }
    return [cell, after ?? WITHIN_MS / 1000]
  })
  const found = Object.fromEntries(await Promise.all(times)) as Record<keyof Cells, number>
  await Promise.all(asked)
  return found
}

/** Where something says that all is well. */
function fineOf(fault: Fault, said: Said): string[] {
  return Object.entries(said)
    .filter(([cell, text]) => isFine(fault, cell as keyof Said, text))
    .map(([cell]) => cell)
}

function isFine({ of, named }: Fault, cell: keyof Said, said: string): boolean {
  switch (cell) {
    case 'health':
      return said === 'ok'
    case 'ready':
      return said.includes('200')
    case 'metric':
      return !said.endsWith(' 0')
    case 'doctor':
      return said === 'ok' || (named !== undefined && !named.test(said))
    case 'call':
      // What the API answers with 201 is stored while no worker works.
      return of === 'worker' ? said !== '201' : said !== '503'
  }
}

/** Many callers at once for a while: the most processes of PostgreSQL that wait for a replica. */
async function burden({ admin, create }: Scene, { name }: Fault): Promise<number> {
  if (name !== 'replica gone') return 0
  const untilMs = performance.now() + 15_000
  const callers = Array.from({ length: 4 * POOL }, async () => {
    while (performance.now() < untilMs) if ((await create()) !== 201) await sleep(50)
  })
  let most = 0
  while (performance.now() < untilMs) {
    const { rows } = await admin.query(
      `select count(*)::int as count from pg_stat_activity where wait_event = 'SyncRep' and usename = 'app'`,
    )
    most = Math.max(most, rows[0].count)
    await sleep(100)
  }
  await Promise.all(callers)
  return most
}
