import type { Cell, Cells } from '../platform/cells.ts'
import type { Log } from '../platform/log.ts'
import { logFailure } from '../platform/reachability.ts'
import { type HostRow, hostStore } from './host-store.ts'

const REFRESH_EVERY_MS = 2_000

interface Deps {
  cells: Cells
  log: Log
}

/**
 * All bound host names, in memory. Every cell has all of them, and what any cell has counts: a cell that is away, or has lost rows, unbinds
 * nothing. When a cell cannot be read, what it had last stays.
 */
export function createHostMap({ cells, log }: Deps) {
  const read = new Map<string, readonly HostRow[]>()
  const reading = new Set<string>()
  let bound: ReadonlyMap<string, string> = new Map()
  let loading: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function readCell({ name, db }: Cell): Promise<void> {
    if (reading.has(name)) return
    reading.add(name)
    try {
      const rows = await hostStore.list(db)
      if (isSame(read.get(name), rows)) return
      read.set(name, rows)
      bound = mergeHosts([...read.values()].flat())
    } finally {
      reading.delete(name)
    }
  }

  async function refresh(): Promise<void> {
    const failed = (err: unknown, cell: string) =>
      logFailure(log, 'warn', { err, cell }, 'host names could not be read')
    await Promise.all(cells.all().map((cell) => readCell(cell).catch((error) => failed(error, cell.name))))
  }

  /** The first read. Throws when no cell answers: nothing may be served before the names are known. */
  async function readFirst(): Promise<void> {
    const results = await Promise.allSettled(cells.all().map(readCell))
    const [failure] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (read.size === 0) throw failure
  }

  async function load(): Promise<void> {
    if (read.size > 0) return
    loading ??= readFirst().finally(() => {
      loading = undefined
    })
    await loading
  }

  return {
    load,
    refresh,
    /** The tenant that a host name belongs to; undefined for a name that serves everybody. */
    tenantOf: (host: string): string | undefined => bound.get(host),
    isEmpty: (): boolean => bound.size === 0,

    /** Loads the names, and reads them again every two seconds from then on. */
    async start(): Promise<void> {
      await load()
      timer ??= setInterval(() => void refresh(), REFRESH_EVERY_MS).unref()
    },
    stop(): void {
      clearInterval(timer)
      timer = undefined
    },
  }
}
export type HostMap = ReturnType<typeof createHostMap>

/** The names change rarely, and are read every two seconds. */
function isSame(before: readonly HostRow[] | undefined, rows: readonly HostRow[]): boolean {
  if (before?.length !== rows.length) return false
  return rows.every(({ host, tenantId }, at) => before[at]?.host === host && before[at]?.tenantId === tenantId)
}

/** Stands for no tenant at all: no key has it. */
export const NOBODY = ''

/** A name that two cells give to different tenants, as after a restored backup, is served to neither. */
export function mergeHosts(rows: readonly Pick<HostRow, 'host' | 'tenantId'>[]): Map<string, string> {
  const merged = new Map<string, string>()
  for (const { host, tenantId } of rows) {
    const known = merged.get(host)
    merged.set(host, known === undefined || known === tenantId ? tenantId : NOBODY)
  }
  return merged
}
