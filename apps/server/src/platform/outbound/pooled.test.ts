import assert from 'node:assert/strict'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createNetServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { startStopwatch } from '../../testing/stopwatch.ts'
import { OutboundError } from './errors.ts'
import { createPooledOutbound, type PooledOptions, type PooledOutbound } from './pooled.ts'
import { createCertificate } from './testing/certificate.ts'
import { closeServers, failsWith, listen, serve } from './testing/servers.ts'

const outbounds: PooledOutbound[] = []
after(async () => {
  await Promise.all(outbounds.map((outbound) => outbound.close()))
  closeServers()
})

/** For calls that must time out. Calls that must succeed have a longer limit, because a busy machine needs it. */
const SHORT = { timeoutMs: 300 } as const

function pooled(options: Partial<PooledOptions> = {}): PooledOutbound {
  const outbound = createPooledOutbound({ allowNetworks: ['127.0.0.0/8'], timeoutMs: 10_000, ...options })
  outbounds.push(outbound)
  return outbound
}

const post = (outbound: PooledOutbound, url: string, headers: string[] = [], body = Buffer.from('{}')) =>
  outbound.post({ owner: 'tenant', url, allowHttp: true, headers, body })

/** With one connection every call waits until it can be used again. */
const ONE = { connectionsPerOrigin: 1 } as const

describe('a call', () => {
  test('sends exactly the given bytes and headers, and reuses connections', async () => {
    const seen: { url: string | undefined; headers: object; body: string }[] = []
    const { port, connections } = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        seen.push({ url: request.url, headers: request.headers, body })
        response.writeHead(202, { 'set-cookie': 'a=b' }).end('done')
      })
    })
    const outbound = pooled(ONE)
    for (let i = 0; i < 6; i++) {
      const url = `http://127.0.0.1:${port}/a?b=c#d`
      assert.deepEqual(await post(outbound, url, ['x-a', 'b'], Buffer.from('{"ä":1}')), {
        status: 202,
        retryAfter: undefined,
      })
    }
    const expected = {
      url: '/a?b=c',
      headers: { host: `127.0.0.1:${port}`, connection: 'keep-alive', 'x-a': 'b', 'content-length': '8' },
      body: '{"ä":1}',
    }
    assert.deepEqual(seen, Array(6).fill(expected))
    assert.equal(connections(), 1)
  })

  test('returns every status, including redirects, which are not followed', async () => {
    let calls = 0
    const { port } = await serve((request, response) => {
      calls++
      const status = Number(request.url?.slice(1))
      response.writeHead(status, { location: '/200', 'retry-after': '17' }).end()
    })
    const outbound = pooled()
    for (const status of [200, 204, 302, 307, 404, 410, 429, 500, 503]) {
      assert.deepEqual(await post(outbound, `http://127.0.0.1:${port}/${status}`), { status, retryAfter: '17' })
    }
    assert.equal(calls, 9)
  })

  test('ignores interim responses', async () => {
    const { port } = await listen(
      createNetServer((socket) => {
        socket.once('data', () =>
          socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n'),
        )
      }),
    )
    assert.equal((await post(pooled(), `http://127.0.0.1:${port}/`)).status, 201)
  })

  test('[U7] a success counts with the end of its body, up to 1 MB; another status counts without', async () => {
    let [status, size] = [200, 1_048_576]
    const { port, connections, open } = await serve((_request, response) =>
      response.writeHead(status).end('x'.repeat(size)),
    )
    const outbound = pooled(ONE)
    const url = `http://127.0.0.1:${port}/`
    for (let i = 0; i < 6; i++) assert.equal((await post(outbound, url)).status, 200)
    assert.equal(connections(), 1)
    size = 10_000_000
    const before = open()
    await failsWith('too_large', post(outbound, url))
    await eventually(() => open() < before, 'the connection is closed')
    status = 410
    assert.equal((await post(outbound, url)).status, 410)
  })

  test('a body that the end of the connection ends is whole with it', async () => {
    const { port, open } = await listen(
      createNetServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 202 Accepted\r\n\r\nyes'))),
    )
    assert.equal((await post(pooled(), `http://127.0.0.1:${port}/`)).status, 202)
    await eventually(() => open() === 0, 'the connection is closed')
  })
})

describe('failures of a call', () => {
  test('no answer in time', async () => {
    const { port, open } = await serve(() => {})
    await figureAtMost('webhook.given-up-ms', 1_500, async () => {
      const ranMs = startStopwatch()
      const started = performance.now()
      await failsWith('timeout', post(pooled(SHORT), `http://127.0.0.1:${port}/`))
      assert.ok(performance.now() - started >= 300)
      return ranMs()
    })
    await eventually(() => open() === 0, 'the connection is closed')
  })

  test('[U7] a receiver that trickles: at the deadline a success does not count, and another status does', async () => {
    let status = 200
    const { port, open } = await serve((_request, response) => {
      response.writeHead(status)
      const drip = setInterval(() => response.write('a'), 20)
      response.on('close', () => clearInterval(drip))
    })
    await failsWith('timeout', post(pooled(SHORT), `http://127.0.0.1:${port}/`))
    status = 503
    assert.equal((await post(pooled(SHORT), `http://127.0.0.1:${port}/`)).status, 503)
    await eventually(() => open() === 0, 'the connections are closed')
  })

  test('[U7] a success whose body is cut off does not count', async () => {
    const begun = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab'
    const { port } = await listen(createNetServer((socket) => socket.once('data', () => socket.end(begun))))
    await failsWith('refused', post(pooled(), `http://127.0.0.1:${port}/`))
  })

  test('[U7] a success that only the end of the connection ends does not count when that is a reset', async () => {
    const { port } = await listen(
      createNetServer((socket) =>
        socket.once('data', () =>
          // Two turns of the event loop, in which the sender reads it.
          socket.write('HTTP/1.1 200 OK\r\n\r\nyes', () =>
            setImmediate(() => setImmediate(() => socket.resetAndDestroy())),
          ),
        ),
      ),
    )
    await failsWith('refused', post(pooled(), `http://127.0.0.1:${port}/`))
  })

  test('a port without a listener, a connection that is cut, an answer that is not HTTP', async () => {
    const { port, open, close } = await serve(() => {})
    close()
    await eventually(() => open() === 0, 'closed')
    await failsWith('refused', post(pooled(), `http://127.0.0.1:${port}/`))
    const cut = await listen(createNetServer((socket) => socket.once('data', () => socket.destroy())))
    await failsWith('refused', post(pooled(), `http://127.0.0.1:${cut.port}/`))
    const odd = await listen(createNetServer((socket) => socket.once('data', () => socket.write('SSH-2.0-x\r\n\r\n'))))
    const error = await failsWith('refused', post(pooled(), `http://127.0.0.1:${odd.port}/`))
    assert.ok(!`${error.message} ${error.code} ${error.stack}`.includes('SSH'))
  })

  test('an answer that could be read in two ways', async () => {
    const field = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`
    for (const text of [
      'HTTP/3.0 200 OK\r\n\r\n',
      'HTTP/1.1  200 OK\r\n\r\n',
      'HTTP/1.1 2000 OK\r\n\r\n',
      'HTTP/1.1 20 OK\r\n\r\n',
      'HTTP/1.1 200 OK\nx: y\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      field('no colon'),
      field(': no name'),
      field('a space : x'),
      field('x-a: b\rc'),
      field('x-a: b\nc: d'),
      field('x-a: \0'),
      field('content-length: 1\r\ncontent-length: 1'),
      field('content-length: 1\r\ntransfer-encoding: chunked'),
      ...['+1', '-1', '0x1', '1.0', '1 1', '1,1', '1e3', '99999999999999999999'].map((value) =>
        field(`content-length: ${value}`),
      ),
    ]) {
      const { port } = await listen(createNetServer((socket) => socket.once('data', () => socket.write(text))))
      await assert.rejects(post(pooled(SHORT), `http://127.0.0.1:${port}/`), OutboundError, JSON.stringify(text))
    }
  })

  test('headers that are too large to read', async () => {
    const { port } = await serve((_request, response) => response.writeHead(200, { 'x-a': 'v'.repeat(20_000) }).end())
    await failsWith('too_large', post(pooled(), `http://127.0.0.1:${port}/`))
  })

  test('a name that has no address, or cannot be resolved', async () => {
    await failsWith('dns', post(pooled({ lookup: async () => [] }), 'http://host.example/'))
    const lookup = () => Promise.reject(new Error('ENOTFOUND'))
    await failsWith('dns', post(pooled({ lookup }), 'http://host.example/'))
  })

  test('a call that gets no connection fails at its deadline, and is never sent', async () => {
    const calls: string[] = []
    const { port } = await serve((request, response) => {
      calls.push(request.url ?? '')
      if (request.url === '/later') response.end()
    })
    // Long enough for the first one to be sent, however busy the machine is.
    const outbound = pooled({ timeoutMs: 3_000, connectionsPerOrigin: 1 })
    const url = `http://127.0.0.1:${port}/`
    await Promise.all(['first', 'waits'].map((path) => failsWith('timeout', post(outbound, `${url}${path}`))))
    assert.equal((await post(outbound, `${url}later`)).status, 200)
    assert.deepEqual(calls, ['/first', '/later'])
  })

  test('closing ends the running calls', async () => {
    const { port, open } = await serve(() => {})
    const outbound = pooled({ timeoutMs: 60_000 })
    const failing = failsWith('refused', post(outbound, `http://127.0.0.1:${port}/`))
    await eventually(() => open() === 1, 'it is under way')
    await outbound.close()
    await failing
  })
})

describe('permitted targets', () => {
  test('addresses that are not public are refused before anything is sent', async () => {
    const { port, connections } = await serve((_request, response) => response.end())
    const closed = pooled({ allowNetworks: [] })
    for (const host of ['127.0.0.1', '0.0.0.0', '10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:7f00:1]']) {
      await failsWith('forbidden_address', post(closed, `http://${host}:${port}/`))
    }
    for (const host of ['127.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost', 'redis']) {
      await failsWith('forbidden_target', post(closed, `http://${host}:${port}/`))
    }
    assert.equal(connections(), 0)
  })

  test('a name is refused when any of its addresses is forbidden, at each new connection', async () => {
    const { port, connections } = await serve((_request, response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    )
    let addresses = ['127.0.0.1']
    const outbound = pooled({ allowNetworks: ['127.0.0.1/32'], lookup: async () => addresses })
    const url = `http://host.example:${port}/`
    assert.equal((await post(outbound, url)).status, 200)
    addresses = ['127.0.0.1', '127.0.0.2']
    await failsWith('forbidden_address', post(outbound, url))
    assert.equal(connections(), 1)
  })

  test('http only where the caller permits it; no host header other than that of the URL', async () => {
    const { port, connections } = await serve((_request, response) => response.end())
    const request = {
      owner: 'tenant',
      url: `http://127.0.0.1:${port}/`,
      allowHttp: false,
      headers: [],
      body: Buffer.of(),
    }
    await failsWith('forbidden_target', pooled().post(request))
    await assert.rejects(post(pooled(), request.url, ['x-a', 'b', 'HOST', 'other.example']), TypeError)
    assert.equal(connections(), 0)
  })

  test('no header that could end a line or the request, or that says where it ends', async () => {
    const { port, connections } = await serve((_request, response) => response.end())
    const refuses = (...headers: string[]) =>
      assert.rejects(post(pooled(), `http://127.0.0.1:${port}/`, headers), TypeError, JSON.stringify(headers))
    for (const value of ['a\r\nx: y', 'a\n', '\r', '\0', '\x7f', 'ā']) await refuses('x-a', value)
    for (const name of ['', 'a b', 'a:', 'a\r\nb', 'ä', ' a']) await refuses(name, 'x', 'x-b', 'y')
    for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'keep-alive', 'expect', 'upgrade'])
      await refuses(name, 'x')
    for (const name of ['te', 'trailer', 'proxy-connection']) await refuses(name, 'x')
    assert.equal(connections(), 0)
  })

  test('proxies of the environment are ignored', async () => {
    const proxy = await serve((_request, response) => response.writeHead(500).end())
    const { port } = await serve((_request, response) => response.end())
    const before = { ...process.env }
    Object.assign(process.env, {
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      http_proxy: `http://127.0.0.1:${proxy.port}`,
    })
    try {
      assert.equal((await post(pooled(), `http://127.0.0.1:${port}/`)).status, 200)
    } finally {
      process.env = before
    }
    assert.equal(proxy.connections(), 0)
  })

  test('certificates are checked: the authority and the name', async () => {
    const { cert, key } = createCertificate('hook.example')
    const { port } = await listen(createHttpsServer({ cert, key }, (_request, response) => response.end()))
    const lookup = async () => ['127.0.0.1']
    assert.equal((await post(pooled({ lookup, ca: cert }), `https://hook.example:${port}/`)).status, 200)
    await failsWith('tls', post(pooled({ lookup }), `https://hook.example:${port}/`))
    await failsWith('tls', post(pooled({ lookup, ca: cert }), `https://other.example:${port}/`))
  })
})

describe('limits of connections', () => {
  test('a connection rests after an answer: the next call has another one and waits for nothing', async () => {
    const { port, connections } = await serve((_request, response) => response.end())
    const outbound = pooled()
    for (let i = 0; i < 2; i++) assert.equal((await post(outbound, `http://127.0.0.1:${port}/`)).status, 200)
    assert.equal(connections(), 2)
  })

  test('a connection that the receiver keeps for a second, or on which it says too much, is not used again', async () => {
    for (const answer of [
      'keep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n',
      'connection: close\r\ncontent-length: 0\r\n\r\n',
      'content-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n',
    ]) {
      const server = createNetServer((socket) => socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${answer}`)))
      const { port, connections, open } = await listen(server)
      const outbound = pooled()
      for (let i = 0; i < 3; i++) assert.equal((await post(outbound, `http://127.0.0.1:${port}/`)).status, 200)
      assert.equal(connections(), 3, answer)
      await eventually(() => open() === 0, 'they are closed')
    }
  })

  test('bytes that nobody asked for end an idle connection', async () => {
    let write = (_text: string) => {}
    const { port, connections, open } = await listen(
      createNetServer((socket) => {
        write = (text) => socket.write(text)
        socket.on('data', () => write('HTTP/1.1 204 No Content\r\n\r\n'))
      }),
    )
    const outbound = pooled(ONE)
    for (let i = 0; i < 2; i++) assert.equal((await post(outbound, `http://127.0.0.1:${port}/`)).status, 204)
    assert.equal(connections(), 1)
    write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    await eventually(() => open() === 0, 'it is closed')
    assert.equal((await post(outbound, `http://127.0.0.1:${port}/`)).status, 204)
    assert.equal(connections(), 2)
  })

  test('encrypted connections are used again too', async () => {
    const { cert, key } = createCertificate('hook.example')
    const { port, connections } = await listen(
      createHttpsServer({ cert, key }, (request, response) => request.resume().on('end', () => response.end('ok'))),
    )
    const outbound = pooled({ ...ONE, lookup: async () => ['127.0.0.1'], ca: cert })
    const big = Buffer.alloc(1_000_000, 'a')
    for (const body of [big, Buffer.from('{}'), big])
      assert.equal((await post(outbound, `https://hook.example:${port}/`, [], body)).status, 200)
    assert.equal(connections(), 1)
  })

  test('a call that fails to connect fails alone', async () => {
    const { port } = await serve((_request, response) => response.end())
    let lookups = 0
    const lookup = async () => (lookups++ === 0 ? ['127.0.0.2'] : ['127.0.0.1'])
    const outbound = pooled({ lookup, connectionsPerOrigin: 2, allowNetworks: ['127.0.0.1/32'] })
    const calls = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) =>
        outbound.post({
          owner: `${n}`,
          url: `http://host.example:${port}/`,
          allowHttp: true,
          headers: [],
          body: Buffer.of(),
        }),
      ),
    )
    assert.deepEqual(
      calls.map(({ status }) => status),
      ['rejected', ...Array(5).fill('fulfilled')],
    )
  })

  test('connections to one origin are limited', async () => {
    const { port, connections } = await serve((_request, response) => void setTimeout(() => response.end(), 20))
    const outbound = pooled({ connectionsPerOrigin: 3, timeoutMs: 5_000 })
    await Promise.all(Array.from({ length: 12 }, () => post(outbound, `http://127.0.0.1:${port}/`)))
    assert.equal(connections(), 3)
  })

  test('with too many origins, the connections of the least recently used ones are closed', async () => {
    const started = await Promise.all(Array.from({ length: 4 }, () => serve((_request, response) => response.end())))
    const outbound = pooled({ maxOrigins: 2 })
    for (const { port } of started) await post(outbound, `http://127.0.0.1:${port}/`)
    assert.equal(outbound.origins(), 2)
    await eventually(() => started.filter(({ open }) => open() > 0).length === 2, 'the first two are closed')
    assert.deepEqual(
      started.map(({ open }) => open() > 0),
      [false, false, true, true],
    )
  })
})
