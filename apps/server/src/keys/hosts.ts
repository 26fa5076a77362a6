import { HOST_LIMITS } from '@ostiary/contract'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { isId } from '../platform/ids.ts'
import { readHostName } from './host-name.ts'
import { type HostRow, hostStore } from './host-store.ts'
import { keyStore } from './store.ts'

interface Deps {
  cells: Cells
  clock: Clock
  /** The installation's own addresses: bound to a tenant, they would serve nobody else. */
  ownUrls: readonly string[]
}

/** A bound host name as the operator sees it. */
export interface HostRecord {
  host: string
  tenant_id: string
  when_created: string
}

/**
 * Binds host names to tenants, for the operator. Every cell gets every name. The lock of one cell makes changes take turns in the whole installation, so
 * that a name cannot be given to two tenants; a change needs every cell, and one that was interrupted is completed by the next attempt.
 */
export function createHosts({ cells, clock, ownUrls }: Deps) {
  const own = new Set(ownUrls.map((url) => new URL(url).hostname.toLowerCase()))

  /** Runs `work` alone, with each cell to write to. Of the first cell it is the transaction with the lock. */
  async function alone<T>(work: (stores: readonly Queryable[]) => Promise<T>): Promise<T> {
    const [first, ...others] = cells.all().toSorted((a, b) => (a.name < b.name ? -1 : 1))
    if (!first) throw new Error('There is no cell')
    return first.db.transaction(async (tx) => {
      await hostStore.lock(tx)
      // The locked one last: it is committed after all others have the change.
      return work([...others.map(({ db }) => db), tx])
    })
  }

  async function listAll(stores: readonly Queryable[]): Promise<HostRow[]> {
    const rows = (await Promise.all(stores.map(hostStore.list))).flat()
    const unique = new Map(rows.map((row) => [`${row.host} ${row.tenantId}`, row]))
    return [...unique.values()].sort((a, b) => (a.host < b.host ? -1 : 1))
  }

  async function checkTenant(tenantId: string): Promise<void> {
    const found = isId(tenantId) && (await keyStore.findTenant(cells.forId(tenantId), tenantId))
    if (!found) throw new AppError('not_found', 'NOT_FOUND', 'There is no such tenant')
  }

  return {
    /** To bind a name again to the same tenant changes nothing. */
    async add(tenantId: string, name: string): Promise<HostRecord> {
      const host = readHostName(name)
      if (own.has(host)) throw invalid('/name', 'is the address of this installation (PUBLIC_URL, LAUNCH_URL)')
      await checkTenant(tenantId)
      return alone(async (stores) => {
        const rows = await listAll(stores)
        const sameHost = rows.filter((row) => row.host === host)
        if (sameHost.some((row) => row.tenantId !== tenantId)) throw invalid('/name', 'belongs to another tenant')
        const hosts = new Set(rows.filter((row) => row.tenantId === tenantId).map((row) => row.host))
        if (!hosts.has(host) && hosts.size >= HOST_LIMITS.perTenant) {
          throw invalid('/name', `would be one too many: a tenant has at most ${HOST_LIMITS.perTenant}`)
        }
        const row = sameHost[0] ?? { host, tenantId, createdAt: clock.now() }
        // All names, because a cell that was added later has none of them.
        for (const store of stores) for (const each of [...rows, row]) await hostStore.insert(store, each)
        return toRecord(row)
      })
    },

    /** The names of one tenant, or of all. */
    async list(tenantId?: string): Promise<HostRecord[]> {
      const rows = await listAll(cells.all().map(({ db }) => db))
      return rows.filter((row) => (tenantId ?? row.tenantId) === row.tenantId).map(toRecord)
    },

    async remove(tenantId: string, name: string): Promise<void> {
      const host = readHostName(name)
      const removed = await alone(async (stores) => {
        let count = 0
        for (const store of stores) count += await hostStore.delete(store, { tenantId, host })
        return count
      })
      if (removed === 0) throw new AppError('not_found', 'NOT_FOUND', 'The tenant has no such host name')
    },
  }
}

function toRecord({ host, tenantId, createdAt }: HostRow): HostRecord {
  return { host, tenant_id: tenantId, when_created: createdAt.toISOString() }
}
