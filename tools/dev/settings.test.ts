import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCallback, parseNetworks } from '@ostiary/server/conformance'
import { withDevDefaults } from './settings.ts'

const HOOK = { url: 'http://127.0.0.1:9000/hook', headers: {}, livemode: false }
const networksOf = (given: Record<string, string>) =>
  parseNetworks((withDevDefaults(given).OUTBOUND_ALLOW_NETWORKS ?? '').split(',').filter(Boolean))

test('under npm run dev a callback to this machine is let through', () => {
  assert.doesNotThrow(() => checkCallback(HOOK, networksOf({})))
})

test('an existing setting is kept, even when it is empty', () => {
  assert.deepEqual(withDevDefaults({ OUTBOUND_ALLOW_NETWORKS: '', PUBLIC_URL: 'http://dev.example', PORT: '1' }), {
    OUTBOUND_ALLOW_NETWORKS: '',
    PUBLIC_URL: 'http://dev.example',
    PORT: '1',
  })
  assert.throws(() => checkCallback(HOOK, networksOf({ OUTBOUND_ALLOW_NETWORKS: '' })), /OUTBOUND_ALLOW_NETWORKS/)
  assert.equal(withDevDefaults({ PORT: '9999' }).PUBLIC_URL, 'http://localhost:9999')
})
