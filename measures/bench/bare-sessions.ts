/**
 * The create call of area C without us: the same Fastify, the same pool, the same insert into the same two tables with rows of the
 * same size. No keys, no validation, no settings, no sealing, no log. `bench sessions` compares with it.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { type Queryable, sessionStore } from '@ostiary/server/measure'
import Fastify from 'fastify'
import pg from 'pg'

/** The size of one of our rows. The benchmark reads one and passes it. */
interface Sample {
  tenantId: string
  keyId: string
  tags: string[]
  sealedKeyBytes: number
  masterKeyId: string
  requestBytes: number
}

const { tenantId, keyId, tags, sealedKeyBytes, masterKeyId, requestBytes } = JSON.parse(
  process.env.SAMPLE ?? '',
) as Sample
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, idleTimeoutMillis: 0 })
const db: Queryable = {
  rows: async (statement, values = []) => (await pool.query({ ...statement, values: [...values] })).rows,
  run: async (statement, values = []) => (await pool.query({ ...statement, values: [...values] })).rowCount ?? 0,
}
// Random bytes: like sealed data they do not compress.
const [tokenHash, sealedKey, request] = [randomBytes(32), randomBytes(sealedKeyBytes), randomBytes(requestBytes)]
const fixed = {
  tenantId,
  keyId,
  tags,
  sealedKey,
  masterKeyId,
  request,
  tokenHash,
  livemode: false,
  area: 'age',
  state: 'CREATED',
} as const

const app = Fastify()
app.post('/session', async (_request, reply) => {
  const createdAt = new Date()
  const sessionId = randomUUID()
  const expiresAt = new Date(createdAt.getTime() + 900_000)
  await sessionStore.insertMany(db, [{ ...fixed, sessionId, createdAt, expiresAt }])
  const launchUrl = `http://localhost:8080/launch/?sessionId=${sessionId}`
  return reply.code(201).send({ token: `at_${sessionId}`, launchUrl, expiresAt, sessionId, livemode: false })
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
createServer((_request, response) => response.end('ok')).listen(Number(process.env.ADMIN_PORT), '127.0.0.1')
