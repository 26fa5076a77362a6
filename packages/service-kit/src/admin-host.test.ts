import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAdminHost } from './admin-host.ts'

test('[U7] an admin port answers to an address, localhost and the configured names only', () => {
  const names = ['api', 'api.internal']
  for (const host of [undefined, 'localhost', 'LocalHost:9400', '127.0.0.1:9400', '10.0.0.3', '[::1]:9400', '[::1]'])
    assert.equal(isAdminHost(host, names), true, host)
  for (const host of ['api:9400', 'API.internal']) assert.equal(isAdminHost(host, names), true, host)
  for (const host of [
    '',
    'evil.example',
    'evil.example:9400',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'worker',
    '999.1.1.1',
  ])
    assert.equal(isAdminHost(host, names), false, host)
})
