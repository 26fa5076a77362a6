/**
 * What the service says while its store or its worker is wrong: nine faults × health, readiness, metric, doctor and the status of a call. No
 * cell may say fine, and none is 500; after each fault all say fine again. The primary and the replica are the drill's own.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { missingPostgres } from '@ostiary/testkit/missing'
import { sleep } from '@ostiary/testkit/run'
import { fill, mountSmallDisk, type Scene, setScene, unmountSmallDisk } from './truth-scene.ts'

interface Fault {
  name: string
  happen(): Promise<unknown>
  mend(): Promise<unknown>
  /** The API goes on storing, so that its readiness and its answers are as before: those of the worker count. */
  of?: 'worker' | undefined
}

interface Said {
  health: string
  ready: string
  metric: string
  doctor: string
  call: string
}

/** A worker that died is missed after 30 s. */
const WITHIN_MS = 90_000
/** The default of DATABASE_POOL_MAX. */
const POOL = 8

export const measure: Measure = async ({ say }) => {
  const missing = missingPostgres()
  if (missing) {
    say(`skipped: ${missing}`)
    return []
  }
  const disk = mountSmallDisk()
  if (!disk) say('disk full: skipped, no file system can be mounted here')
  const scene = await setScene(disk)
  const count = { rows: 0, fine: 0, of500: 0, stuck: 0, notMended: 0 }
  const table = [`fault | health | ready | metric | doctor | call | true after`]
  try {
    const faults = listFaults(scene, disk)
    for (const fault of faults) {
      const startedMs = performance.now()
      await fault.happen()
      let said = await look(scene, fault)
      const isLate = () => performance.now() - startedMs > WITHIN_MS
      while (fineOf(fault, { ...said, doctor: 'not asked' }).length > 0 && !isLate()) {
        if (said.call === '500') count.of500++
        await sleep(200)
        said = await look(scene, fault)
      }
      const seconds = (performance.now() - startedMs) / 1000
      count.stuck = Math.max(count.stuck, await burden(scene, fault))
      said.doctor = await scene.doctor(fault.name === 'clock off')
      const fine = fineOf(fault, said)
      count.rows++
      count.fine += fine.length
      table.push(`${[fault.name, ...Object.values(said)].join(' | ')} | ${seconds.toFixed(1)} s`)
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
      { name: 'truth.calls-answered-500', value: count.of500, floor: 0, is: 'most' },
      { name: 'truth.stuck-backends', value: count.stuck, floor: 2 * POOL - 1, is: 'most' },
    ]
  } finally {
    await scene.remove()
    if (disk) unmountSmallDisk(disk)
  }
}

function listFaults(scene: Scene, disk: string | undefined): Fault[] {
  const { primary, replica, admin, proxy } = scene
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
    { name: 'replica gone', happen: () => replica.stop('immediate'), mend: () => replica.start() },
    {
      name: 'clock off',
      of: 'worker',
      happen: () => scene.startWorker({ isClockWrong: true }),
      mend: () => scene.startWorker(),
    },
    { name: 'worker gone', of: 'worker', happen: () => scene.stopWorker(), mend: () => scene.startWorker() },
    ...(filler
      ? [{ name: 'disk full', happen: async () => fill(filler), mend: async () => rmSync(filler, { force: true }) }]
      : []),
  ]
}

/** How long it takes until everything says that all is well; undefined when something never does. */
async function mended(scene: Scene): Promise<number | undefined> {
  const startedMs = performance.now()
  const isWell = async (of?: 'worker') => {
    const { health, ready, metric, call } = await look(scene, { of })
    return health === 'ok' && ready === '200' && !metric.endsWith(' 0') && call === '201'
  }
  while (!((await isWell()) && (await isWell('worker')))) {
    if (performance.now() - startedMs > WITHIN_MS) return undefined
    await sleep(200)
  }
  return (performance.now() - startedMs) / 1000
}

async function look({ api, readyz, create }: Scene, { of }: Pick<Fault, 'of'>): Promise<Said> {
  const call = String(await create())
  const health = (await (await fetch(`${api.url}/health`)).json()) as { details?: Record<string, string> }
  const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text()
  const name = of === 'worker' ? 'ostiary_workers' : 'ostiary_db_up'
  const value = new RegExp(`^${name}\\{cell="main"\\} (\\S+)$`, 'm').exec(metrics)?.[1]
  return {
    health: Object.values(health.details ?? {}).join('; ') || 'ok',
    ready: await readyz(of ?? 'api'),
    metric: `${name} ${value}`,
    doctor: 'ok',
    call,
  }
}

/** Where something says that all is well. */
function fineOf({ of }: Fault, { health, ready, metric, doctor, call }: Said): string[] {
  const fine = {
    health: health === 'ok',
    ready: ready === '200',
    metric: !metric.endsWith(' 0'),
    doctor: doctor === 'ok',
    // What the API answers with 201 is stored while no worker works.
    call: of === 'worker' ? call !== '201' : call !== '503',
  }
  return Object.entries(fine)
    .filter(([, isFine]) => isFine)
    .map(([name]) => name)
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
