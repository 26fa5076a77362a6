/** What processes of the release before do to the partitions of face vectors beside ours. */
import type { Harness } from '../../testing/harness.ts'
import { partitionTable } from '../store.ts'

type Database = Pick<Harness['database'], 'query'>

/** Copies a space that has grown into a table of its own, with an HNSW index. Searches do not see the table yet. */
export async function copyToOwnPartition(database: Database, tenantId: string): Promise<{ attach(): Promise<void> }> {
  const numbers = await database.query(
    `select shelf as old, nextval('face_shelf_numbers')::int as "new" from face_spaces where tenant_id = $1`,
    [tenantId],
  )
  const { old, new: partition } = numbers.rows[0]
  const table = partitionTable(partition)
  await database.query(`create table ${table} (like face_vectors including defaults)`)
  await database.query(
    `insert into ${table} (shelf, tenant_id, livemode, version, seq, person_id, enroll_level, embedding)
     select ${partition}, tenant_id, livemode, version, seq, person_id, enroll_level, embedding from ${partitionTable(old)} where tenant_id = $1`,
    [tenantId],
  )
  await database.query(`alter table ${table} add primary key (tenant_id, livemode, version, seq, shelf)`)
  await database.query(`create index ${table}_hnsw on ${table} using hnsw (embedding halfvec_ip_ops)`)
  return {
    /** Moves the space, in one transaction. */
    async attach(): Promise<void> {
      await database.query(
        `do $$ begin
           perform 1 from face_spaces where tenant_id = '${tenantId}' for update;
           alter table face_vectors attach partition ${table} for values in (${partition});
           update face_spaces set shelf = ${partition} where tenant_id = '${tenantId}';
           delete from ${partitionTable(old)} where tenant_id = '${tenantId}';
         end $$`,
      )
    },
  }
}

export async function moveSpace(database: Database, tenantId: string): Promise<void> {
  await (await copyToOwnPartition(database, tenantId)).attach()
}
