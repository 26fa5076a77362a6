import type { TenantSettings } from '@ostiary/contract'
import { BoundedMap } from '../platform/bounded-map.ts'
import { AppError } from '../platform/errors.ts'
import { isId } from '../platform/ids.ts'
import type { TargetVerdict } from '../platform/outbound/target.ts'
import type { Platform } from '../platform/platform.ts'
import { logFailure } from '../platform/reachability.ts'
import { createSingleFlight } from '../platform/single-flight.ts'
import { applyPatch, checkSettings, DEFAULTS, readSettings } from './settings.ts'
import { settingsStore } from './store.ts'

/** The maximum age of cached settings. A change is effective everywhere within this time. */
export const SETTINGS_MAX_AGE_MS = 5_000
const REFRESH_AFTER_MS = 2_000
const REFRESH_EVERY_MS = 1_000
const MAX_ENTRIES = 20_000

interface Entry {
  settings: TenantSettings
  loadedMs: number
  /** The time of the next read from the database, while the entry is still in use. */
  refreshMs: number
}

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'log'> {
  /** Whether the installation would call this URL at all. */
  checkUrl: (url: string) => TargetVerdict
}

/**
 * The settings of tenants, kept in memory for at most five seconds. Settings in use are read again before they expire, so that a busy
 * tenant's requests do not wait. When the database is away they expire, and callers get 503: an old setting might be laxer than the one
 * that replaced it.
 */
export function createSettings({ cells, clock, log, checkUrl }: Deps) {
  const entries = new BoundedMap<string, Entry>(MAX_ENTRIES)
  const loading = createSingleFlight<TenantSettings>()

  function load(tenantId: string): Promise<TenantSettings> {
    return loading.run(tenantId, async (isCurrent) => {
      const { settings, loadedMs } = await fetchSettings(tenantId)
      // `set` may have changed the settings after this read began; then its result is not kept.
      if (isCurrent()) entries.set(tenantId, { settings, loadedMs, refreshMs: loadedMs + REFRESH_AFTER_MS })
      return settings
    })
  }

  async function fetchSettings(tenantId: string): Promise<{ settings: TenantSettings; loadedMs: number }> {
    // Taken before the query is sent, because the result may be as old as that.
    const loadedMs = clock.monotonicMs()
    const stored = await settingsStore.find(cells.forId(tenantId), tenantId)
    if (clock.monotonicMs() - loadedMs > SETTINGS_MAX_AGE_MS) {
      throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'The store is too slow, try again')
    }
    return { settings: stored ? readSettings(stored) : DEFAULTS, loadedMs }
  }

  function refresh(tenantId: string, entry: Entry, nowMs: number): void {
    entry.refreshMs = nowMs + REFRESH_EVERY_MS
    load(tenantId).catch((err) => logFailure(log, 'warn', { err, tenantId }, 'settings could not be refreshed'))
  }

  return {
    async get(tenantId: string): Promise<TenantSettings> {
      const entry = entries.get(tenantId)
      const nowMs = clock.monotonicMs()
      if (!entry || nowMs - entry.loadedMs > SETTINGS_MAX_AGE_MS) return load(tenantId)
      if (nowMs > entry.refreshMs) refresh(tenantId, entry, nowMs)
      return entry.settings
    },

    /** Changes the fields of the patch, all or none of them. Null resets a field to its default. */
    async set(tenantId: string, patch: unknown): Promise<TenantSettings> {
      if (!isId(tenantId)) throw unknownTenant()
      const settings = await cells.forId(tenantId).transaction(async (tx) => {
        const now = clock.now()
        const stored = await settingsStore.lock(tx, tenantId, now)
        if (!stored) throw unknownTenant()
        const changed = checkSettings(applyPatch(stored, patch), checkUrl)
        await settingsStore.save(tx, tenantId, changed, now)
        return readSettings(changed)
      })
      entries.delete(tenantId)
      loading.forget(tenantId)
      return settings
    },
  }
}
export type Settings = ReturnType<typeof createSettings>

function unknownTenant(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no such tenant')
}
