/**
 * The session of a device without us: the same Fastify, a plain pool, as many requests and statements as ours, the device's key imported
 * once and each signature checked with it, one key pair made and one payload opened. No keys of hosts, no validation, no sealing at rest,
 * no risk, no log, no metrics. `bench device` compares with it.
 */
import { createDecipheriv, createECDH, createHash, createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto'
import { createServer } from 'node:http'
import { inflateRawSync } from 'node:zlib'
import Fastify from 'fastify'
import pg from 'pg'
import type { BareCall } from './device-api.ts'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4, idleTimeoutMillis: 0 })
const { jwk, signed, signature, privateKey, epk, iv, content, tag } = JSON.parse(process.env.CALL ?? '') as BareCall
const importKey = () => ({ key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' }) as const
const key = importKey()
const [signedBytes, signatureBytes] = [Buffer.from(signed), Buffer.from(signature, 'base64url')]
// Random bytes: like sealed data they do not compress.
const [request, progress, result] = [randomBytes(900), randomBytes(1_200), randomBytes(1_600)]

await pool.query(`create table bare_sessions (id uuid primary key, state text not null, due_at timestamptz not null) with (fillfactor = 70);
  create table bare_secrets (id uuid primary key, request bytea not null, progress bytea, result bytea) with (fillfactor = 70);
  create table bare_messages (id uuid primary key, content bytea not null);
  create table bare_events (id uuid primary key, content bytea not null)`)

const INSERT = {
  name: 'insert',
  text: 'with made as (insert into bare_sessions values ($1, $2, $3)) insert into bare_secrets (id, request) values ($1, $4)',
}
const FIND = { name: 'find', text: 'select * from bare_sessions join bare_secrets using (id) where id = $1' }
const SAVE = {
  name: 'save',
  text: 'with moved as (update bare_sessions set state = $2 where id = $1) update bare_secrets set progress = $3 where id = $1',
}
const LOCK = { name: 'lock', text: 'select 1 from bare_sessions where id = $1 for update' }
const END = {
  name: 'end',
  text: 'with ended as (update bare_sessions set state = $2 where id = $1) update bare_secrets set result = $3, progress = null where id = $1',
}
const SEND = { name: 'send', text: 'insert into bare_messages values ($1, $2)' }
const STREAM = { name: 'stream', text: 'insert into bare_events values ($1, $2)' }

function checkSignature(by = key): void {
  if (!verify('sha256', signedBytes, by, signatureBytes)) throw new Error('The signature is wrong')
}

/** As it would be with a new device: its key is imported, and it gets a public key to seal its payload with. */
function meetDevice(): string {
  checkSignature(importKey())
  return createECDH('prime256v1').generateKeys('base64url')
}

function openPayload(): unknown {
  const own = createECDH('prime256v1')
  own.setPrivateKey(privateKey, 'base64url')
  const shared = own.computeSecret(Buffer.from(epk, 'base64url'))
  const decipher = createDecipheriv(
    'aes-256-gcm',
    createHash('sha256').update(shared).digest(),
    Buffer.from(iv, 'base64url'),
  )
  decipher.setAuthTag(Buffer.from(tag, 'base64url'))
  return JSON.parse(inflateRawSync(Buffer.concat([decipher.update(content, 'base64url'), decipher.final()])).toString())
}

const app = Fastify()
const REPLY = { state: 'OPENED', attempt: 0, expiresAt: new Date().toISOString(), errors: [], text: 'x'.repeat(200) }
const LONG_REPLY = { ...REPLY, more: 'x'.repeat(300) }
app.post('/session', async (_request, reply) => {
  const id = randomUUID()
  await pool.query({ ...INSERT, values: [id, 'CREATED', new Date(), request] })
  return reply.code(201).send({ id })
})
app.post<{ Body: { id: string } }>('/open', async ({ body: { id } }) => {
  await pool.query({ ...FIND, values: [id] })
  const sealKey = meetDevice()
  await pool.query({ ...SAVE, values: [id, 'OPENED', progress] })
  return { ...LONG_REPLY, sealKey }
})
app.post<{ Body: { id: string } }>('/call', async ({ body: { id } }) => {
  checkSignature()
  await pool.query({ ...FIND, values: [id] })
  await pool.query({ ...SAVE, values: [id, 'OPENED', progress] })
  return REPLY
})
app.post<{ Body: { id: string } }>('/submit', async ({ body: { id } }) => {
  checkSignature()
  await pool.query({ ...FIND, values: [id] })
  openPayload()
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query({ ...LOCK, values: [id] })
    await client.query({ ...END, values: [id, 'COMPLETED', result] })
    await client.query({ ...SEND, values: [randomUUID(), result] })
    await client.query({ ...STREAM, values: [randomUUID(), result] })
    await client.query('commit')
  } finally {
    client.release()
  }
  return REPLY
})
app.get<{ Params: { id: string } }>('/session/:id/result', async ({ params: { id } }) => {
  const { rows } = await pool.query({ ...FIND, values: [id] })
  return { ...REPLY, bytes: rows[0].result.toString('base64') }
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
createServer((_request, response) => response.end('ok')).listen(Number(process.env.ADMIN_PORT), '127.0.0.1')
