import { type Db, sql } from './db.ts'

const SETTINGS = sql(
  'doctor.settings',
  `select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionText",
     current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
     current_setting('max_connections')::int as "maxConnections", now() as now,
     pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only')::bool as "isReadOnly",
     current_setting('synchronous_standby_names') as "standbyNames", current_setting('archive_mode') as "archiveMode",
     pg_has_role('pg_monitor', 'usage') as "maySeeReplicas",
     (select count(*)::int from pg_stat_replication where state = 'streaming') as streaming,
     (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as synchronous,
     (select last_failed_time from pg_stat_archiver where last_failed_time > coalesce(last_archived_time, '-infinity')) as "archiveFailedAt",
     (select extversion from pg_extension where extname = 'vector') as vector,
     (select default_version from pg_available_extensions where name = 'vector') as "vectorAvailable"`,
)

/** What `ostiary doctor` asks a database about itself. */
export interface DatabaseFacts {
  [column: string]: unknown
  version: number
  versionText: string
  fsync: string
  synchronousCommit: string
  maxConnections: number
  isStandby: boolean
  isReadOnly: boolean
  standbyNames: string
  archiveMode: string
  /** The numbers below are right only then. */
  maySeeReplicas: boolean
  streaming: number
  synchronous: number
  /** When the archiving of the write-ahead log failed, unless it has worked since. */
  archiveFailedAt: Date | null
  now: Date
  vector: string | null
  vectorAvailable: string | null
}

export async function readDatabaseFacts(db: Db): Promise<DatabaseFacts | undefined> {
  return (await db.rows<DatabaseFacts>(SETTINGS))[0]
}
