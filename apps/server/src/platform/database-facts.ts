import { type Db, sql } from './db.ts'

const SETTINGS = sql(
  'doctor.settings',
  `select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionText",
     current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
     current_setting('max_connections')::int as "maxConnections", now() as now,
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
  now: Date
  vector: string | null
  vectorAvailable: string | null
}

export async function readDatabaseFacts(db: Db): Promise<DatabaseFacts | undefined> {
  return (await db.rows<DatabaseFacts>(SETTINGS))[0]
}
