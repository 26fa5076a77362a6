import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeHosts, NOBODY } from './host-map.ts'
import { hostNameOf, readHostName } from './host-name.ts'

test('a Host header leads to the stored name: no port, no dot of the root, lower case', () => {
  for (const header of [
    'node.fjord.example',
    'Node.FJORD.example',
    'node.fjord.example:8443',
    'node.fjord.example.',
    'NODE.fjord.example.:80',
  ]) {
    assert.equal(hostNameOf(header), 'node.fjord.example')
  }
  for (const header of ['', ':80', '[2001:db8::1]:80', 'node.fjord.example..', ' node.fjord.example']) {
    assert.notEqual(hostNameOf(header), 'node.fjord.example')
  }
})

test('a name that can be bound is a DNS host name', () => {
  assert.equal(readHostName('Node.Fjord.Example.'), 'node.fjord.example')
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
  for (const name of ['a', 'fjord-node', 'xn--nod-8ma.example', '1and2.example', '1.2.example', longest]) {
    assert.equal(readHostName(name), name)
    assert.equal(hostNameOf(`${name}:443`), name)
  }
  for (const name of [
    '',
    '.',
    'a..b',
    '.a',
    'a.b..',
    '-a.b',
    'a-.b',
    'a_b.c',
    'a b',
    'nöde.example',
    'a:80',
    'https://a.b',
    'a/b',
    '*.a.b',
    `${longest}d`,
    `${'a'.repeat(64)}.b`,
    '::1',
    '[::1]',
  ]) {
    assert.throws(() => readHostName(name), /must be a DNS host name/, name)
  }
  for (const name of ['192.0.2.1', '192.0.2.1.', '3221225985', '0xc0.1', 'a.0x', '127.1', 'host.1']) {
    assert.throws(() => readHostName(name), /must be a name, not an address/, name)
  }
})

test('what any cell has counts; a name of two tenants is nobody’s', () => {
  const row = (host: string, tenantId: string) => ({ host, tenantId })
  assert.deepEqual(
    [...mergeHosts([row('a', '1'), row('b', '2'), row('a', '1'), row('c', '1'), row('c', '2'), row('c', '1')])],
    [
      ['a', '1'],
      ['b', '2'],
      ['c', NOBODY],
    ],
  )
})
