/** A seeded source of requests that no client should send. Every one must be answered with a documented 4xx. */
export interface OddRequest {
  kind: string
  /** The bytes of the whole request. */
  bytes: Buffer
  /** Statuses that are right for it; any documented 4xx when absent. */
  expect?: readonly number[]
}

/** Mulberry32: the same seed gives the same requests, so that a finding can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Random = () => number
type Maker = (random: Random, key: string) => OddRequest

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
const int = (random: Random, max: number) => Math.floor(random() * max)
const bytesOf = (random: Random, count: number) => Buffer.from(Array.from({ length: count }, () => int(random, 256)))

function http(method: string, path: string, headers: Record<string, string>, body: Buffer | string = ''): Buffer {
  const payload = Buffer.from(body)
  const length = payload.length > 0 || method === 'POST' ? { 'content-length': String(payload.length) } : {}
  const all: Record<string, string> = { host: 'localhost', ...length, ...headers }
  const head = Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), payload])
}

const post = (key: string, body: Buffer | string, type = 'application/json') =>
  http('POST', '/strings', { 'x-api-key': key, 'content-type': type }, body)

const MAKERS: readonly Maker[] = [
  function badJson(random, key) {
    const whole = '{"value":"text","metadata":{"a":[1,2,{"b":null}]},"ttlSeconds":60}'
    const cut = whole.slice(0, 1 + int(random, whole.length - 2))
    const body = pick(random, [
      cut,
      `${whole}}`,
      whole.replace(':', ''),
      whole.replaceAll('"', "'"),
      `${whole},`,
      '',
      '\ufeff{}',
      'NaN',
      '{"value":1e}',
      '{"value":"\t"}',
      bytesOf(random, 1 + int(random, 200)),
    ])
    return { kind: 'bad JSON', bytes: post(key, body), expect: [400] }
  },
  function wrongTypes(random, key) {
    const wrong = pick(random, [1, true, null, [], {}, '', ['x'], { a: 1 }, 1e308, -1])
    const body = pick(random, [
      { value: wrong },
      { value: 'x', metadata: pick(random, [1, 'x', [], true, null]) },
      { value: 'x', ttlSeconds: pick(random, [0, -1, 1.5, '60', null, 1e12, [60]]) },
      { value: 'x', unknown: wrong },
      [],
      'text',
      7,
      null,
      { values: 'x' },
    ])
    return { kind: 'wrong types', bytes: post(key, JSON.stringify(body)), expect: [400] }
  },
  function hugeBody(random, key) {
    const body = pick(random, [
      `{"value":"${'x'.repeat(65_537 + int(random, 100_000))}"}`,
      `{"value":"x","metadata":{"k":"${'y'.repeat(9_000 + int(random, 200_000))}"}}`,
    ])
    return { kind: 'huge value', bytes: post(key, body), expect: [400, 413] }
  },
  function hugerBody(_random, key) {
    const head = http('POST', '/strings', {
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': '900000000',
    })
    return { kind: 'body announced as 900 MB', bytes: Buffer.concat([head, Buffer.alloc(2_000, 0x20)]), expect: [413] }
  },
  function oddEncoding(random, key) {
    const type = pick(random, [
      'application/json; charset=utf-16',
      'text/plain; charset=latin1',
      'application/xml',
      'multipart/form-data',
      'application/json-seq',
      '',
      'x',
      'text/html',
      'application/x-www-form-urlencoded',
      'image/png',
      ';;;',
      'application/',
      `a/${'b'.repeat(int(random, 3_000))}`,
    ])
    const encoding = pick(random, ['gzip', 'br', 'deflate', 'zstd', 'nonsense'])
    const headers =
      random() < 0.5 ? { 'content-type': type } : { 'content-type': 'application/json', 'content-encoding': encoding }
    return {
      kind: 'odd encoding',
      bytes: http('POST', '/strings', { 'x-api-key': key, ...headers }, '{"value":"x"}'),
      expect: [415],
    }
  },
  function deepNesting(random, key) {
    const depth = 33 + int(random, 60_000)
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', '}]'],
    ] as const)
    const body =
      random() < 0.5
        ? open.repeat(depth)
        : `{"value":"x","metadata":{"m":${open.repeat(Math.min(depth, 20_000))}1${close.repeat(Math.min(depth, 20_000))}}}`
    return { kind: 'deep nesting', bytes: post(key, body.slice(0, 250_000)), expect: [400] }
  },
  function nul(random, key) {
    const body = pick(random, [
      '{"value":"a\\u0000b"}',
      '{"value":"x","metadata":{"\\u0000":1}}',
      '{"value":"a\0b"}',
      '{"value":"\\ud800"}',
      '{"value":"x","metadata":{"a":["\\udfff"]}}',
    ])
    return random() < 0.3
      ? { kind: 'NUL in text', bytes: post(key, `a${'\0'.repeat(1 + int(random, 5))}`, 'text/plain'), expect: [400] }
      : { kind: 'NUL or half pair', bytes: post(key, body), expect: [400] }
  },
  function brokenUtf8(random, key) {
    const broken = pick(random, [
      [0xff],
      [0xc3],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80],
      [0xc0, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0x80],
    ])
    const body = Buffer.concat([Buffer.from('{"value":"'), Buffer.from(broken), Buffer.from('"}')])
    return random() < 0.3
      ? { kind: 'broken UTF-8 text', bytes: post(key, Buffer.from(broken), 'text/plain'), expect: [400] }
      : { kind: 'broken UTF-8', bytes: post(key, body), expect: [400] }
  },
  function prototypeKeys(random, key) {
    const body = pick(random, [
      '{"value":"x","metadata":{"__proto__":{"admin":true}}}',
      '{"__proto__":{"value":"x"}}',
      '{"value":"x","metadata":{"constructor":{"prototype":{"a":1}}}}',
      '{"value":"x","metadata":{"\\u005f\\u005fproto__":1}}',
      '{"value":"x","metadata":{"_\\u005fproto__":{"admin":true}}}',
      '{"value":"x","metadata":{"n":1e400}}',
    ])
    return { kind: 'prototype keys', bytes: post(key, body), expect: [400] }
  },
  function unknownPath(random, key) {
    const path = pick(random, [
      '/none',
      '/strings/a/b',
      '/v3/strings',
      '/admin',
      '/.env',
      '/metrics',
      '/strings%2f',
      '//strings',
      '/STRINGS',
      '/strings;a=b',
      `/${'a'.repeat(int(random, 4_000))}x`,
      '/nobody/is/here',
      '/..%2f..%2fetc',
      '/%2e%2e/',
    ])
    return { kind: 'unknown path', bytes: http('GET', path, { 'x-api-key': key }), expect: [404] }
  },
  function badPath(random) {
    const path = pick(random, ['/strings/%', '/strings/%zz', '/%c3%28', '/strings/%ff', '/%'])
    return { kind: 'path that cannot be decoded', bytes: http('GET', path, {}), expect: [400, 404] }
  },
  function badId(random, key) {
    const id = pick(random, [
      'x',
      '0',
      '%00',
      '-1',
      '%F0%9F%98%80',
      "'%20or%201=1--",
      '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aZ',
      '019F1C2E-7A40-7B3C-8F00-5D2B9C41E6AA',
      'a'.repeat(int(random, 500) + 1),
      '..',
      '00000000-0000-0000-0000-000000000000',
    ])
    return {
      kind: 'bad id',
      bytes: http(pick(random, ['GET', 'DELETE']), `/strings/${id}`, { 'x-api-key': key }),
      expect: [404],
    }
  },
  function badQuery(random, key) {
    const query = pick(random, [
      'limit=-1',
      'limit=1e9',
      'limit=NaN',
      'limit=',
      'limit[]=1',
      'order=;',
      'cursor=%00',
      `cursor=${'A'.repeat(150)}`,
      'a=b',
      'limit=1&limit=2',
      '__proto__=1',
      'constructor=1',
      `x=${'y'.repeat(3_000)}`,
    ])
    return { kind: 'bad query', bytes: http('GET', `/strings?${query}`, { 'x-api-key': key }), expect: [400] }
  },
  function unknownMethod(random, key) {
    const method = pick(random, ['PUT', 'PATCH', 'PROPFIND', 'PURGE', 'TRACE', 'OPTIONS', 'LINK', 'MKCOL'])
    return {
      kind: 'method of another protocol',
      bytes: http(method, pick(random, ['/strings', '/strings/x', '/', '/health']), { 'x-api-key': key }),
      expect: [405],
    }
  },
  function noMethod(random) {
    const method = pick(random, ['FOO', 'get', 'GETT', '💥', '', 'G\0T', 'POST\t'])
    return { kind: 'no method', bytes: Buffer.from(`${method} /strings HTTP/1.1\r\nHost: x\r\n\r\n`), expect: [400] }
  },
  function badKey(random, key) {
    const wrong = pick(random, [
      'x',
      `${key}x`,
      key.slice(0, -1),
      key.toUpperCase(),
      `ost_live_${'0'.repeat(60)}`,
      ' '.repeat(10) + key.slice(1),
      'x'.repeat(1 + int(random, 5_000)),
      'é',
      'null',
      "' or ''='",
    ])
    return { kind: 'bad key', bytes: http('GET', '/strings', { 'x-api-key': wrong }), expect: [401] }
  },
  function badIdempotencyKey(random, key) {
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'idempotency-key': pick(random, ['x'.repeat(256 + int(random, 2_000)), 'é', 'a\tb']),
    }
    return { kind: 'bad idempotency key', bytes: http('POST', '/strings', headers, '{"value":"x"}'), expect: [400] }
  },
  function notHttp(random, key) {
    const post = `POST /strings HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n`
    const bytes = pick(random, [
      Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'latin1'),
      Buffer.concat([bytesOf(random, 50), Buffer.from('\r\n\r\n')]),
      Buffer.from('GET / HTTP/9.9\r\nHost: x\r\n\r\n'),
      Buffer.from('GET /\r\nHost: x\r\n\r\n'),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n'),
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\na: b\0c\r\n\r\n'),
      Buffer.from(`${post}Content-Length: -5\r\n\r\n`),
      Buffer.from(`${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde`),
      Buffer.from(`${post}Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\nZZ\r\n`),
      Buffer.from(`${post}Transfer-Encoding: nonsense\r\nContent-Length: 3\r\n\r\nabc`),
      Buffer.from(`${post}Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}`),
    ])
    return { kind: 'not HTTP', bytes, expect: [400] }
  },
  function hugeHeaders(random) {
    const headers = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`x-${i}`, 'y'.repeat(1_000 + int(random, 2_000))]),
    )
    return { kind: 'huge headers', bytes: http('GET', '/', headers), expect: [431] }
  },
]

export function oddRequest(random: Random, key: string): OddRequest {
  return pick(random, MAKERS)(random, key)
}
