import { type Queryable, sql } from '../platform/db.ts'

interface SettingsRow {
  settings: Record<string, unknown>
  [column: string]: unknown
}

// `kept` is what an upgrade kept for the tenant, beneath what it has set itself. The first change moves it into `settings`.
const FIND = sql('settings.find', 'select kept || settings as settings from tenant_settings where tenant_id = $1')
const LOCK = sql(
  'settings.lock',
  'select kept || settings as settings from tenant_settings where tenant_id = $1 for update',
)
// Creates a row to lock, so that two concurrent first changes run one after the other.
const ENSURE = sql(
  'settings.ensure',
  `insert into tenant_settings (tenant_id, settings, updated_at) values ($1, '{}', $2) on conflict do nothing`,
)
const SAVE = sql(
  'settings.save',
  `update tenant_settings set settings = $2, kept = '{}', updated_at = $3 where tenant_id = $1`,
)

const FOREIGN_KEY_VIOLATION = '23503'

export const settingsStore = {
  /** What the tenant has set; undefined when it never set anything. */
  async find(db: Queryable, tenantId: string): Promise<Record<string, unknown> | undefined> {
    return (await db.rows<SettingsRow>(FIND, [tenantId]))[0]?.settings
  },

  /** As `find`, and locks the row until the transaction ends. Undefined when there is no such tenant. */
  async lock(tx: Queryable, tenantId: string, now: Date): Promise<Record<string, unknown> | undefined> {
    try {
      await tx.run(ENSURE, [tenantId, now])
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === FOREIGN_KEY_VIOLATION) return undefined
      throw error
    }
    return (await tx.rows<SettingsRow>(LOCK, [tenantId]))[0]?.settings
  },

  async save(tx: Queryable, tenantId: string, settings: object, now: Date): Promise<void> {
    await tx.run(SAVE, [tenantId, JSON.stringify(settings), now])
  },
}
