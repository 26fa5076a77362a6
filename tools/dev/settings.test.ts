import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { checkCallback, parseNetworks } from '@ostiary/server/conformance'
import { envFileOf, withDevDefaults } from './settings.ts'

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

test('the command line reads where the installation is, and no secret but its test key', () => {
  const given = {
    DATABASE_URL: 'postgres://dev@127.0.0.1:11000/dev?a=1#b',
    MASTER_KEY_FILE: '/srv/my clone/.dev/master.key',
  }
  const env = withDevDefaults({ ...given, PORT: '18431', MASTER_KEY: 'secret', PATH: '/bin' })
  assert.deepEqual(
    { ...parseEnv(envFileOf(env, { url: 'http://localhost:18431', key: 'ost_test_x' })) },
    {
      ...given,
      PORT: '18431',
      PUBLIC_URL: 'http://localhost:18431',
      OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
      OSTIARY_URL: 'http://localhost:18431',
      OSTIARY_API_KEY: 'ost_test_x',
    },
  )
})
