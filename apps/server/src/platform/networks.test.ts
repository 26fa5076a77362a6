import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf, networksOf } from './networks.ts'

test('an IPv6 caller is its /64, an IPv4 caller is its address', () => {
  const same = [
    '2001:db8:1:2::1',
    '2001:db8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002::',
    '2001:db8:1:2:3:4:5:6%eth0',
  ]
  assert.deepEqual([...new Set(same.map(networkOf))], ['2001:db8:1:2::/64'])
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
})

test('an IPv6 address counts against its /64, /56 and /48, and a whole /48 has 1.2 times the allowance of one address', () => {
  assert.deepEqual(networksOf('2001:db8:1:abcd::7'), [
    { name: '2001:db8:1:abcd::/64', factor: 1 },
    { name: '2001:db8:1:ab00::/56', factor: 1.1 },
    { name: '2001:db8:1:0::/48', factor: 1.2 },
  ])
  assert.deepEqual(networksOf('192.0.2.1'), [{ name: '192.0.2.1', factor: 1 }])
  assert.deepEqual(networksOf('::ffff:192.0.2.1'), [{ name: '192.0.2.1', factor: 1 }])
})

test('the names of the three networks of an address never meet, however many groups are zero', () => {
  for (const address of ['::', '::1', '2001:db8::', '2001:db8:1::1']) {
    assert.equal(new Set(networksOf(address).map(({ name }) => name)).size, 3, address)
  }
})
