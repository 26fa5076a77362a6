/**
 * A bare server to compare area A with: the same Fastify, the same pool, the same SQL, nothing else. No keys, no validation,
 * no log, no headers.
 */
import { createServer } from 'node:http'
import { createIds, type Queryable, stringStore, systemClock } from '@ostiary/server/measure'
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, idleTimeoutMillis: 0 })
// Ordered ids, like ours: random ids would measure the index instead of the server.
const ids = createIds(systemClock)
const db: Queryable = {
  rows: async (statement, values = []) => (await pool.query({ ...statement, values: [...values] })).rows,
  run: async (statement, values = []) => (await pool.query({ ...statement, values: [...values] })).rowCount ?? 0,
}
const owner = { tenantId: process.env.TENANT_ID ?? '', livemode: false }

const app = Fastify()
app.post<{ Body: { value: string } }>('/strings', async (request, reply) => {
  const record = { id: ids.next(0), value: request.body.value, metadata: null, createdAt: new Date(), expiresAt: null }
  await stringStore.insert(db, owner, record)
  return reply.code(201).send(record)
})
app.get<{ Params: { id: string } }>('/strings/:id', (request) =>
  stringStore.find(db, owner, request.params.id, new Date()),
)

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
createServer((_request, response) => response.end('ok')).listen(Number(process.env.ADMIN_PORT), '127.0.0.1')
