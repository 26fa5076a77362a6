import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { createAgeFixture } from '../age/testing/fixture.ts'
import { loadConfig } from '../config.ts'
import { createSecrets } from '../secrets.ts'
import { TEST_MASTER_KEY } from '../testing/harness.ts'
import { createWire, type Wire } from '../wire.ts'
import { isPurged } from './index.ts'
import { openPart, sealPart } from './sealing.ts'

const fixture = await createAgeFixture()

const query = (text: string, values: unknown[] = []) => fixture.harness.database.query(text, values)
const sessions = () => fixture.harness.wire.sessions.service

async function opened(sessionId: string, wire: Wire = fixture.harness.wire) {
  const session = await wire.sessions.service.find(sessionId)
  assert.ok(session && !isPurged(session))
  return session
}

/** Both rows of a session, changed as somebody with write access to the database can. */
async function move(sessionId: string, change: string, values: unknown[] = []): Promise<void> {
  const isSecretsToo = change.startsWith('tenant_id')
  await query(`update sessions set ${change} where session_id = $1`, [sessionId, ...values])
  if (isSecretsToo) await query(`update session_secrets set ${change} where session_id = $1`, [sessionId, ...values])
}

async function storedRequest(sessionId: string) {
  const { dataKey } = await opened(sessionId)
  const { rows } = await query('select request from session_secrets where session_id = $1', [sessionId])
  return { dataKey, request: JSON.parse(openPart(dataKey, sessionId, 'request', rows[0].request).toString()) }
}

/** The session as the last release has stored it. */
async function unbind(sessionId: string): Promise<void> {
  const { dataKey, request } = await storedRequest(sessionId)
  const { sealedFor, ...asBefore } = request
  assert.ok(sealedFor)
  const sealed = sealPart(dataKey, sessionId, 'request', Buffer.from(JSON.stringify(asBefore)))
  await query('update session_secrets set request = $2 where session_id = $1', [sessionId, sealed])
}

test('a session that was moved to another tenant, mode or area does not open', async () => {
  const [alpha, beta] = [await fixture.newHost(), await fixture.newHost()]
  const made = async () => (await alpha.create({ metadata: { secret: 'alpha four' } })).sessionId
  const [toTenant, toLive, toArea] = [await made(), await made(), await made()]
  for (const id of [toTenant, toLive, toArea]) await opened(id)
  const { rows } = await query('select tenant_id from sessions where session_id = $1', [
    (await beta.create()).sessionId,
  ])
  await move(toTenant, 'tenant_id = $2', [rows[0].tenant_id])
  await move(toLive, 'livemode = not livemode')
  await move(toArea, `area = 'D'`)
  for (const id of [toTenant, toLive, toArea])
    await assert.rejects(sessions().find(id), /sealed for another tenant, mode or area/)
  await query('delete from sessions where session_id = any($1)', [[toTenant, toLive, toArea]])
})

test('a session of the last release opens, and the last release reads the request of this one', async () => {
  const host = await fixture.newHost()
  const { sessionId } = await host.create({ metadata: { order: 'K-1' } })
  const before = (await opened(sessionId)).request
  await unbind(sessionId)
  assert.deepEqual((await opened(sessionId)).request, before)
  // The last release parses the same bytes and ignores the one member that it does not know.
  const { request } = await storedRequest((await host.create({ metadata: { order: 'K-1' } })).sessionId)
  assert.deepEqual(Object.keys(request).toSorted(), [...Object.keys(before), 'sealedFor'].toSorted())
})

test('reseal binds sessions of the last release; it names rows that do not open, passes over them, and goes on', async () => {
  const host = await fixture.newHost()
  const make = async () => (await host.create({ metadata: { order: 'K-2' } })).sessionId
  const [old, damaged, good] = [await make(), await make(), await make()]
  await unbind(old)
  await query(`update session_secrets set sealed_key = '\\x0203' where session_id = $1`, [damaged])
  const bad = await fixture.harness.tenantWithKey()
  await query(`update api_keys set sealed_key = '\\x0102' where id = $1`, [bad.record.id])
  const groups = fixture.harness.wire.biometrics.groups
  const spoilt = { tenantId: bad.tenantId, livemode: false }
  await groups.findOrCreate(spoilt)
  await groups.findOrCreate({ ...spoilt, livemode: true })
  await query(`update face_groups set sealed_key = '\\x0102' where tenant_id = $1 and not livemode`, [bad.tenantId])

  const fresh = randomBytes(32).toString('base64')
  const settings = { ...TEST_LIMITS, DATABASE_URL: fixture.harness.database.url, LOG_LEVEL: 'fatal' }
  const wireWith = (masterKey: string) =>
    createWire(loadConfig({ ...settings, MASTER_KEY: masterKey }), { role: 'test', clock: fixture.harness.clock })
  const [both, alone] = [wireWith(`${fresh}\n${TEST_MASTER_KEY}`), wireWith(fresh)]
  const named: string[] = []
  const resealed = await createSecrets(both).reseal(
    () => {},
    (row) => named.push(row),
  )
  assert.deepEqual(named.toSorted(), [
    `api_keys ${bad.record.id}`,
    `face_groups ${bad.tenantId}/false`,
    `session_secrets ${damaged}`,
  ])
  assert.ok(resealed >= 5)
  await opened(old, alone)
  await opened(good, alone)
  await alone.biometrics.groups.find({ ...spoilt, livemode: true })
  assert.equal((await createSecrets(both).countByMasterKey()).get(fixture.harness.wire.platform.vault.currentKeyId), 3)
  await query('update sessions set livemode = not livemode where session_id = $1', [old])
  await assert.rejects(alone.sessions.service.find(old), /sealed for another/, 'it is bound now')
  for (const wire of [both, alone]) await wire.close()
})
