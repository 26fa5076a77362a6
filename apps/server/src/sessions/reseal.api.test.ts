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

const fixture = await createAgeFixture()

function withMasterKey(masterKey: string): Wire {
  const config = loadConfig({
    ...TEST_LIMITS,
    DATABASE_URL: fixture.harness.database.url,
    MASTER_KEY: masterKey,
    LOG_LEVEL: 'fatal',
  })
  return createWire(config, { role: 'test', clock: fixture.harness.clock })
}

async function canOpen(wire: Wire, token: string): Promise<boolean> {
  try {
    const session = await wire.sessions.service.findByToken(token)
    return session !== undefined && !isPurged(session)
  } catch {
    return false
  }
}

test('after a change of the master key and a reseal, sessions of every tenant and day open without the old key', async () => {
  const hosts = await Promise.all([fixture.newHost(), fixture.newHost()])
  const tokens: string[] = []
  for (let day = 0; day < 3; day++) {
    for (const host of hosts) tokens.push((await host.create({ metadata: { order: `K-${day}` } })).token)
    fixture.harness.clock.advance(86_400_000)
  }
  const fresh = randomBytes(32).toString('base64')
  const both = withMasterKey(`${fresh}\n${TEST_MASTER_KEY}`)
  const alone = withMasterKey(fresh)
  assert.deepEqual(
    await Promise.all(tokens.map((token) => canOpen(alone, token))),
    tokens.map(() => false),
  )
  const resealed = await both.sessions.secrets.reseal()
  assert.equal(resealed, tokens.length + hosts.length, 'sessions, and the keys of the tenants’ tags')
  assert.equal(await both.sessions.secrets.reseal(), 0, 'the second time nothing is left')
  await createSecrets(both).reseal(() => {})
  const afterwards = withMasterKey(fresh)
  assert.deepEqual(
    await Promise.all(tokens.map((token) => canOpen(afterwards, token))),
    tokens.map(() => true),
  )
  for (const wire of [both, alone, afterwards]) await wire.close()
})
