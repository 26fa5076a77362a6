import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createHarness } from '../testing/harness.ts'

const harness = await createHarness()
const port = Number(new URL(await harness.app.listen({ port: 0, host: '127.0.0.1' })).port)

/** Sends bytes as they are and returns the whole answer. */
function raw(bytes: string | Buffer): Promise<{ status: number; headers: string; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
      if (Buffer.byteLength(body) < length || Number.isNaN(length)) return
      socket.destroy()
      resolve({ status: Number(head.split(' ')[1]), headers: head, body: JSON.parse(body) })
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`Closed after ${JSON.stringify(text).slice(0, 200)}`)))
    socket.setTimeout(60_000, () => reject(new Error(`No answer to ${JSON.stringify(bytes).slice(0, 80)}`)))
  })
}

test('requests that are not HTTP get our error body too', async () => {
  const cases: [string, number, string][] = [
    ['NONSENSE\r\n\r\n', 400, 'BAD_REQUEST'],
    ['FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BAD_REQUEST'],
    ['GET / HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    ['GET /\r\nHost: x\r\n\r\n', 400, 'BAD_REQUEST'],
    ['GET / HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n', 400, 'BAD_REQUEST'],
    ['GET /strings/%zz HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BAD_REQUEST'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['POST /strings HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n{}', 400, 'BAD_REQUEST'],
    [
      'POST /strings HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'BAD_REQUEST',
    ],
    ['CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ]
  for (const [bytes, status, code] of cases) {
    const answer = await raw(bytes)
    const { message, requestId } = answer.body
    assert.deepEqual(
      [answer.status, answer.body],
      [status, { statusCode: status, message, code, requestId }],
      bytes.slice(0, 60),
    )
    assert.ok(typeof message === 'string' && typeof requestId === 'string')
  }
})

test('known paths with another method answer 405 and say which methods work', async () => {
  for (const [method, url, allow] of [
    ['PUT', '/strings', 'GET, HEAD, POST'],
    ['PATCH', '/strings/abc', 'DELETE, GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['PROPFIND', '/v1/strings', 'GET, HEAD, POST'],
    ['OPTIONS', '/strings', 'GET, HEAD, POST'],
  ]) {
    const response = await harness.inject({ method: method as 'PUT', url: url ?? '' })
    assert.equal(response.statusCode, 405, `${method} ${url}`)
    assert.equal(response.headers.allow, allow)
    assert.deepEqual(response.json(), {
      statusCode: 405,
      message: 'This path does not take this method',
      code: 'METHOD_NOT_ALLOWED',
      requestId: response.headers['x-request-id'],
    })
  }
})

test('unknown paths answer 404 in the common shape', async () => {
  for (const url of ['/nothing', '/strings/a/b', '/v2', '//', '/../etc/passwd']) {
    const response = await harness.inject(url)
    assert.deepEqual(
      response.json(),
      {
        statusCode: 404,
        message: 'There is nothing at this path',
        code: 'NOT_FOUND',
        requestId: response.headers['x-request-id'],
      },
      url,
    )
  }
})

test('a client that asks for it gets problem details (RFC 9457)', async () => {
  const response = await harness.inject({ url: '/strings?limit=0', headers: { accept: 'application/problem+json' } })
  assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
  assert.deepEqual(response.json(), {
    type: 'about:blank',
    title: 'A field, query parameter or header has a value that is not allowed.',
    status: 400,
    detail: 'The request is not valid: /query/limit must be >= 1',
    code: 'VALIDATION_FAILED',
    requestId: response.headers['x-request-id'],
    details: [{ pointer: '/query/limit', message: 'must be >= 1' }],
  })
})

test('a plain X-Request-ID is echoed, otherwise one is created; it is in the log', async () => {
  const echoed = await harness.inject({ url: '/livez', headers: { 'x-request-id': 'my-trace.1' } })
  assert.equal(echoed.headers['x-request-id'], 'my-trace.1')
  assert.match(harness.logged(), /"requestId":"my-trace.1"/)
  for (const odd of ['a b', 'x'.repeat(65), '<script>', 'näh']) {
    const made = await harness.inject({ url: '/livez', headers: { 'x-request-id': odd } })
    assert.match(String(made.headers['x-request-id']), /^[0-9a-f-]{36}$/)
  }
})

test('every answer carries version and protective headers', async () => {
  for (const url of ['/', '/health', '/strings', '/nothing', '/strings/%zz']) {
    const { headers } = await harness.inject(url)
    assert.equal(headers['x-service-version'], '0.1.0')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(String(headers['strict-transport-security']), /max-age/)
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

test('the OpenAPI document is served, names every operation, and each of its paths answers', async () => {
  const document = (await harness.inject('/openapi.json')).json()
  assert.equal(document.openapi, '3.1.0')
  for (const [path, methods] of Object.entries<Record<string, unknown>>(document.paths)) {
    for (const method of Object.keys(methods)) {
      const response = await harness.inject({ method: method.toUpperCase() as 'GET', url: path.replace('{id}', 'x') })
      assert.notEqual(response.json().message, 'There is nothing at this path', `${method} ${path}`)
    }
  }
})

test('the reference page is not on the origin of the launch page', async () => {
  for (const url of ['/reference', '/reference/', '/reference/js/scalar.js', '/reference/scalar.js'])
    assert.equal((await harness.inject(url)).statusCode, 404, url)
})

test('an internal error is a 500 without details, and the log has its location', async () => {
  const local = await createHarness()
  await local.database.query('drop table strings')
  const response = await local.inject('/strings')
  assert.deepEqual(response.json(), {
    statusCode: 500,
    message: 'Internal Server Error',
    code: 'INTERNAL',
    requestId: response.headers['x-request-id'],
  })
  assert.match(local.logged(), /"errorCode":"INTERNAL < 42P01"/)
})
