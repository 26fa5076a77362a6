import { type CreateSessionBody, TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import { type Queryable, toRequest, type Wire } from '@ostiary/server/measure'
import { copyRows, field, type Row } from '@ostiary/testkit/measuring/copy'
import type { Host } from '@ostiary/testkit/measuring/sessions-load'
import pg from 'pg'

const CHUNK = 10_000

export interface Wanted {
  count: number
  /** The time at which the sessions were created, one every millisecond. */
  madeAt: Date
  lifetimeSeconds: number
  livemode: boolean
  bodyOf(index: number): CreateSessionBody
}

/** Inserts open sessions in bulk without HTTP: the same rows that a create call writes, sealed in the same way, so all are usable. */
export async function loadSessions(wire: Wire, databaseUrl: string, host: Host, wanted: Wanted): Promise<void> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  for (let start = 0; start < wanted.count; start += CHUNK) {
    const sessions: Row[] = []
    const secrets: Row[] = []
    for (let index = start; index < Math.min(wanted.count, start + CHUNK); index++) {
      const [session, secret] = await makeRows(wire, host, wanted, index)
      sessions.push(session)
      secrets.push(secret)
    }
    await copyRows(client, `sessions (${SESSION_COLUMNS})`, sessions)
    await copyRows(client, `session_secrets (${SECRET_COLUMNS})`, secrets)
  }
  await client.query('analyze sessions, session_secrets')
  await client.end()
}

const SESSION_COLUMNS =
  'tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, due_at'
const SECRET_COLUMNS = 'tenant_id, created_at, session_id, sealed_key, master_key_id, request'

async function makeRows(wire: Wire, host: Host, wanted: Wanted, index: number): Promise<[Row, Row]> {
  const { livemode } = wanted
  const request = toRequest(wanted.bodyOf(index), { livemode, settings: TENANT_SETTINGS_DEFAULTS })
  const prepared = await wire.sessions.service.prepare({
    creator: { tenantId: host.tenantId, livemode, keyId: host.keyId },
    area: 'age',
    now: new Date(wanted.madeAt.getTime() + index),
    lifetimeSeconds: wanted.lifetimeSeconds,
    metadata: {},
    makeRequest: ({ token }) => ({ token, ...request }),
  })
  return toRows(await valuesOf(prepared.insert))
}

/** What the store would send to the database. */
async function valuesOf(insert: (db: Queryable) => Promise<unknown>): Promise<readonly unknown[]> {
  let sent: readonly unknown[] = []
  await insert({
    rows: async () => [],
    async run(_statement, values = []) {
      sent = values.map((one) => (one as unknown[])[0])
      return 1
    },
  })
  return sent
}

/** In the order of `sessions.insert`. */
function toRows(values: readonly unknown[]): [Row, Row] {
  const [
    tenantId,
    createdAt,
    sessionId,
    livemode,
    area,
    keyId,
    state,
    tokenHash,
    expiresAt,
    ,
    sealedKey,
    master,
    request,
  ] = values as [string, Date, string, boolean, string, string, string, Buffer, Date, null, Buffer, string, Buffer]
  const key = [field.uuid(tenantId), field.timestamp(createdAt), field.uuid(sessionId)]
  const times = [field.timestamp(expiresAt), field.timestamp(expiresAt)]
  return [
    [...key, field.bool(livemode), field.text(area), field.uuid(keyId), field.text(state), tokenHash, ...times],
    [...key, sealedKey, field.text(master), request],
  ]
}
