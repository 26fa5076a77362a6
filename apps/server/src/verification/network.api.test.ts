import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TenantSettingsPatch } from '@ostiary/contract'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createVerificationFixture } from './testing/fixture.ts'
import { from } from './testing/people.ts'

const TOR = '203.0.113.66'

const folder = temporaryFolder('networks')
writeFileSync(join(folder, 'tor.txt'), TOR)
const fixture = await createVerificationFixture({ NETWORK_LISTS_DIR: folder, TRUST_PROXY: '127.0.0.1' })

test('the webhook names NW_TOR where the tenant turned the source on, and its signals stay two where not', async () => {
  const network = { score: 30, flags: ['NW_TOR'] }
  const cases: { settings: TenantSettingsPatch; flags: string[]; more: object }[] = [
    { settings: { risk: { sources: ['network'] } }, flags: ['NW_TOR'], more: { network } },
    { settings: {}, flags: [], more: {} },
  ]
  for (const { settings, flags, more } of cases) {
    const host = await fixture.newHost({ settings })
    const { sessionId } = await host.create('SIGN-IN')
    const { device } = await fixture.newDevice(sessionId, from(TOR))
    await device.open()
    await device.cancel()
    const { riskEvaluation } = await host.webhook(sessionId)
    assert.deepEqual(riskEvaluation.flags, flags)
    assert.deepEqual(riskEvaluation.signals, { behavioral: null, browser: null, ...more })
  }
})
