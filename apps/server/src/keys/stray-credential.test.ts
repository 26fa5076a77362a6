import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasStrayCredential } from './stray-credential.ts'

const KEY = `ost_test_${'k'.repeat(43)}`
const sent = (headers: Record<string, string | string[]>, url = '/strings') => hasStrayCredential({ headers, url })

test('a key in another header, or a credential of another area, is detected', () => {
  for (const name of ['x_api_key', 'api-key', 'api_key', 'apikey', 'x-apikey', 'clientid', 'clientsecret']) {
    assert.ok(sent({ [name]: 'anything' }), name)
  }
  for (const value of [`Bearer ${KEY}`, KEY, 'Basic dXNlcjpwYXNz', 'Bearer a.b.c']) {
    assert.ok(sent({ authorization: value }), value)
  }
  assert.ok(sent({ 'x-our-own-name': KEY }))
  assert.ok(sent({ 'x-our-own-name': ['other', KEY] }))
})

test('a key in the query is detected', () => {
  for (const query of [`api_key=${KEY}`, 'x-api-key=wrong', 'limit=1&apiKey=abc', `q=${KEY}`]) {
    assert.ok(sent({}, `/strings?${query}`), query)
  }
})

test('ordinary request headers are not credentials', () => {
  const ordinary = {
    host: 'localhost:8080',
    'user-agent': 'curl/8',
    accept: '*/*',
    'content-type': 'application/json',
    'idempotency-key': 'order-17',
    'x-request-id': 'r-1',
    cookie: 'theme=dark',
    'x-api-key': '',
  }
  assert.equal(sent(ordinary), false)
  assert.equal(sent(ordinary, '/strings?limit=10&cursor=abc'), false)
  assert.equal(sent({}, '/v2/open-sanctions/file/demo?scoreThreshold=0.9'), false)
})
