import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCredentials } from './client-credentials.ts'

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const read = (headers: Record<string, string>) => readCredentials(headers, Object.entries(headers).flat())
const UNREADABLE = { kind: 'unreadable' }

test('without a header there are no credentials', () => {
  assert.deepEqual(read({ host: 'localhost', 'x-api-key': 'ost_test_0' }), { kind: 'none' })
})

test('Basic, the two headers and Bearer are read, whatever the case of the scheme', () => {
  const secret = { kind: 'secret', clientId: 'ostc_live_1', secret: 's:e:c' }
  assert.deepEqual(read({ authorization: basic('ostc_live_1:s:e:c') }), secret)
  assert.deepEqual(read({ authorization: basic('ostc_live_1:s:e:c').replace('Basic', 'bAsIc  ') }), secret)
  assert.deepEqual(read({ clientid: 'ostc_live_1', clientsecret: 's:e:c' }), secret)
  assert.deepEqual(read({ authorization: 'bearer a.b-_.c' }), { kind: 'token', token: 'a.b-_.c' })
})

test('headers that cannot be credentials are reported as unreadable, not as missing', () => {
  for (const authorization of [
    '',
    'Basic',
    'Basic ',
    'Bearer ',
    'Bearer a b',
    'Bearer a,b',
    'Digest username="a"',
    'Token abc',
    'ostc_live_1:secret',
    basic('no colon'),
    basic(':secret'),
    basic('client:'),
    basic(`client:${'s'.repeat(201)}`),
    `Bearer ${'a'.repeat(5_000)}`,
    `${basic('a:b')}, ${basic('a:b')}`,
  ]) {
    assert.deepEqual(read({ authorization }), UNREADABLE, authorization.slice(0, 40))
  }
  for (const headers of [
    { clientid: 'a' },
    { clientsecret: 'b' },
    { clientid: 'a', clientsecret: '' },
    { clientid: '', clientsecret: 'b' },
    { clientid: 'a', clientsecret: 'b'.repeat(201) },
  ] as Record<string, string>[]) {
    assert.deepEqual(read(headers), UNREADABLE, JSON.stringify(headers).slice(0, 60))
  }
})

test('credentials in two ways at once are refused, even when they are the same', () => {
  const authorization = basic('a:b')
  assert.deepEqual(read({ authorization, clientid: 'a', clientsecret: 'b' }), UNREADABLE)
  assert.deepEqual(read({ authorization, clientid: 'a' }), UNREADABLE)
  assert.deepEqual(read({ authorization: 'Bearer a.b.c', clientsecret: 'b' }), UNREADABLE)
})

test('a duplicate header is refused, even where Node shows only the first', () => {
  for (const name of ['Authorization', 'clientID', 'CLIENTSECRET']) {
    const headers = name === 'Authorization' ? { authorization: basic('a:b') } : { clientid: 'a', clientsecret: 'b' }
    const raw = [...Object.entries(headers).flat(), name, 'again']
    assert.deepEqual(readCredentials(headers, raw), UNREADABLE, name)
  }
  assert.equal(
    readCredentials({ authorization: basic('a:b') }, ['x', 'authorization', 'Authorization', 'y']).kind,
    'secret',
  )
})
