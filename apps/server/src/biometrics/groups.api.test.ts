import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { loadConfig } from '../config.ts'
import { createSecrets } from '../secrets.ts'
import { createHarness, TEST_MASTER_KEY } from '../testing/harness.ts'
import { createWire, type Wire } from '../wire.ts'
import { BUILT_IN_MODELS } from './models.ts'
import { createFaces } from './testing/faces.ts'

const faces = createFaces(41)
const harness = await createHarness()

function withMasterKey(masterKey: string): Wire {
  const config = loadConfig({
    ...TEST_LIMITS,
    DATABASE_URL: harness.database.url,
    MASTER_KEY: masterKey,
    LOG_LEVEL: 'fatal',
  })
  return createWire(config, { role: 'test' })
}

test('after a change of the master key and a reseal, people are recognised without the old key', async () => {
  const { tenantId, record } = await harness.tenantWithKey({ scopes: ['node:*'] })
  const caller = { tenantId, livemode: false, keyId: record.id, rateFactor: 1 }
  const vectors = [Float64Array.from(faces.person())]
  const { personId } = await harness.wire.biometrics.enrolment.enrol(caller, {
    model: BUILT_IN_MODELS.FACE3_3,
    vectors,
  })
  const predict = async (wire: Wire) => {
    const request = { model: BUILT_IN_MODELS.FACE3_3, vectors, candidates: 1 }
    return (await wire.biometrics.recognition.recognise(caller, request)).candidates[0]?.puid
  }

  const fresh = randomBytes(32).toString('base64')
  const both = withMasterKey(`${fresh}\n${TEST_MASTER_KEY}`)
  const before = withMasterKey(fresh)
  await assert.rejects(predict(before), { message: 'Face authentication failed' })
  assert.equal(await predict(both), personId)
  assert.equal(await createSecrets(both).reseal(() => {}), 2, 'one API key, one group')
  assert.deepEqual([...(await createSecrets(both).countByMasterKey()).keys()], [both.platform.vault.currentKeyId])
  const afterwards = withMasterKey(fresh)
  assert.equal(await predict(afterwards), personId)
  for (const wire of [both, before, afterwards]) await wire.close()
})

test('two processes that use a new tenant at the same time agree on one group', async () => {
  const { tenantId } = await harness.tenantWithKey({ scopes: ['node:*'] })
  const wires = Array.from({ length: 4 }, () => withMasterKey(TEST_MASTER_KEY))
  const groups = await Promise.all(
    wires.map((wire) => wire.biometrics.groups.findOrCreate({ tenantId, livemode: true })),
  )
  assert.equal(new Set(groups.map(({ guid }) => guid)).size, 1)
  assert.equal(new Set(groups.map((keys) => keys.externalRef('x').toString('hex'))).size, 1)
  for (const wire of wires) await wire.close()
})
