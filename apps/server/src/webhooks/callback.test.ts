import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../platform/errors.ts'
import { parseNetworks } from '../platform/outbound/address.ts'
import { checkCallback } from './callback.ts'

const URL_OK = 'https://host.example/hook'

function refusal(
  callback: { url?: string; headers?: Record<string, string>; livemode?: boolean },
  allow: string[] = [],
) {
  try {
    checkCallback({ url: URL_OK, headers: {}, livemode: true, ...callback }, parseNetworks(allow))
    return undefined
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    return { code: error.code, status: error.status, details: error.extra.details }
  }
}

const urlRefusal = (message: string) => ({
  code: 'INVALID_URL',
  status: 400,
  details: [{ pointer: '/body/callback/url', message }],
})
const headerRefusal = (name: string, message: string) => ({
  code: 'VALIDATION_FAILED',
  status: 400,
  details: [{ pointer: `/body/callback/headers/${name}`, message }],
})

const LOCAL =
  'must not name a host of a local network; write its address (127.0.0.1 for localhost), ' +
  'which the operator may allow by OUTBOUND_ALLOW_NETWORKS'

describe('the URL', () => {
  test('live keys need https, test keys may use http', () => {
    assert.equal(refusal({}), undefined)
    assert.equal(refusal({ livemode: false }), undefined)
    assert.equal(refusal({ url: 'http://host.example/hook', livemode: false }), undefined)
    assert.deepEqual(refusal({ url: 'http://host.example/hook' }), urlRefusal('must begin with https://'))
    assert.deepEqual(
      refusal({ url: 'ftp://host.example/', livemode: false }),
      urlRefusal('must begin with https:// or http://'),
    )
  })

  test('addresses that are not public are refused, in any notation', () => {
    for (const url of [
      'https://127.0.0.1/',
      'https://10.1.2.3/',
      'https://169.254.169.254/',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
    ]) {
      const { code } = refusal({ url }) ?? {}
      assert.equal(code, 'INVALID_URL', url)
    }
    assert.deepEqual(
      refusal({ url: 'https://127.0.0.1/' }),
      urlRefusal(
        'must not name an address that is not public, unless the operator allows it by OUTBOUND_ALLOW_NETWORKS',
      ),
    )
    for (const url of ['https://127.1/', 'https://0x7f.1/', 'https://2130706433/', 'https://0177.0.0.1/']) {
      assert.deepEqual(refusal({ url }), urlRefusal('must name its host in the usual notation'), url)
    }
    for (const url of ['https://localhost/', 'https://redis/', 'https://a.internal/']) {
      assert.deepEqual(refusal({ url }), urlRefusal(LOCAL), url)
    }
  })

  test('an operator may allow networks of their own', () => {
    const url = 'http://127.0.0.1:8099/hook'
    assert.equal(refusal({ url, livemode: false }, ['127.0.0.0/8']), undefined)
    assert.deepEqual(refusal({ url, livemode: true }, ['127.0.0.0/8']), urlRefusal('must begin with https://'))
  })

  test('each fault has a message of its own', () => {
    const cases: [string, string][] = [
      ['', 'must have 1 to 2048 characters'],
      [`https://host.example/${'a'.repeat(2100)}`, 'must have 1 to 2048 characters'],
      ['https://host.example/a b', 'must be of printable ASCII without backslashes; percent-encode the rest'],
      ['host.example', 'must be a URL such as https://host.example/path'],
      ['https://user:secret@host.example/', 'must not hold a user name or password'],
      ['https://host.example./', 'must have a valid host name'],
      ['https://host.example:25/', 'must have port 443, none, or one from 1024 that is not that of another service'],
    ]
    for (const [url, message] of cases) assert.deepEqual(refusal({ url }), urlRefusal(message), url.slice(0, 40))
  })
})

describe('the headers', () => {
  test('ordinary headers are accepted', () => {
    const headers = { Authorization: 'Bearer abc.def', 'X-My_Header': 'a "b", c;d=e\tf', Cookie: 'a=b', empty: '' }
    assert.equal(refusal({ headers }), undefined)
  })

  test('headers that we set or that proxies act upon are refused in any spelling', () => {
    for (const name of [
      'Host',
      'HOST',
      'Content-Type',
      'content-length',
      'Content-Encoding',
      'Transfer-Encoding',
      'Connection',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Upgrade',
      'Expect',
      'Via',
      'Proxy-Authorization',
      'X-Service-Signature',
      'x-service-anything',
      'Webhook-Id',
      'webhook-signature',
      'User-Agent',
    ]) {
      assert.deepEqual(
        refusal({ headers: { [name]: 'x' } }),
        headerRefusal(name, 'is not a header that can be chosen'),
        name,
      )
    }
  })

  test('no name or value can end its line', () => {
    for (const name of ['a b', 'a:b', 'a\r\nb', 'ä', '', 'a\0']) {
      assert.equal(refusal({ headers: { [name]: 'x' } })?.details?.[0]?.message, 'is not the name of a header', name)
    }
    for (const value of ['a\r\nx-service-signature: sha256=0', 'a\n', '\0', 'ä', '\x7f', '😀']) {
      assert.deepEqual(refusal({ headers: { a: value } }), headerRefusal('a', 'must be of printable ASCII'))
    }
    assert.deepEqual(refusal({ headers: { a: ' b' } }), headerRefusal('a', 'must not begin or end with white space'))
  })

  test('the pointer is a JSON pointer, cut and printable', () => {
    assert.equal(refusal({ headers: { 'a/b~c\n': 'x' } })?.details?.[0]?.pointer, '/body/callback/headers/a~1b~0c?')
    assert.equal(refusal({ headers: { [' '.repeat(5_000)]: 'x' } })?.details?.[0]?.pointer.length, 23 + 100)
  })

  test('twenty headers and 4 KB are accepted, one more of either is not, and neither is one name in two spellings', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']))
    assert.equal(refusal({ headers: many(20) }), undefined)
    assert.deepEqual(refusal({ headers: many(21) })?.details, [
      { pointer: '/body/callback/headers', message: 'must have at most 20 headers' },
    ])
    assert.equal(refusal({ headers: { abcd: 'v'.repeat(4092) } }), undefined)
    assert.deepEqual(refusal({ headers: { abcd: 'v'.repeat(4093) } })?.details, [
      { pointer: '/body/callback/headers', message: 'must have at most 4096 bytes together' },
    ])
    assert.deepEqual(refusal({ headers: { 'x-a': '1', 'X-A': '2' } }), headerRefusal('X-A', 'is there twice'))
  })
})
