import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { startStopwatch } from '../../testing/stopwatch.ts'
import {
  closeServers,
  failsWith,
  get,
  inChild,
  LIMITS,
  listen,
  outbound,
  SECRET,
  serve,
  textOf,
} from './testing/servers.ts'

after(closeServers)

describe('request', () => {
  test('sends the given request and few other headers', async () => {
    let seen: IncomingMessage | undefined
    let sent = ''
    const { port, open } = await serve((request, response) => {
      seen = request
      request.on('data', (chunk) => {
        sent += chunk
      })
      request.on('end', () => response.writeHead(201, { 'x-answer': 'yes', 'set-cookie': 'a=b' }).end('done'))
    })
    const out = outbound()
    const response = await out.request({
      ...LIMITS,
      method: 'POST',
      url: `http://127.0.0.1:${port}/a/b?c=d#e`,
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer x' },
      body: '{"ä":1}',
    })
    assert.equal(response.status, 201)
    assert.equal(response.headers['x-answer'], 'yes')
    assert.equal(await textOf(response.body), 'done')
    assert.equal(seen?.url, '/a/b?c=d')
    assert.equal(sent, '{"ä":1}')
    assert.deepEqual(seen?.headers, {
      host: `127.0.0.1:${port}`,
      'user-agent': 'Ostiary/9.9.9',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      authorization: 'Bearer x',
      'content-length': '8',
      connection: 'close',
    })
    const second = await out.request(get(`http://127.0.0.1:${port}/`))
    second.discard()
    assert.ok(!Object.hasOwn(seen.headers, 'cookie'))
    await eventually(() => open() === 0, 'no connection is kept')
  })

  test('the body of any method has a length', async () => {
    const { port } = await serve((request, response) => {
      request.resume().on('end', () => response.end(`${request.method} ${request.headers['content-length']}`))
    })
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH'] as const) {
      const body = Buffer.from('GET / HTTP/1.1\r\n\r\n')
      const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/`), method, body })
      assert.equal(await textOf(response.body), `${method} 18`)
    }
  })

  test('IPv6 too', async () => {
    const { port } = await serve((request, response) => response.end(request.headers.host), '::1')
    const response = await outbound().request(get(`http://[::1]:${port}/`))
    assert.equal(await textOf(response.body), `[::1]:${port}`)
  })

  test('every status but a redirect is an answer', async () => {
    const { port } = await serve((request, response) => response.writeHead(Number(request.url?.slice(1))).end())
    for (const status of [200, 204, 300, 304, 400, 404, 500, 503]) {
      const response = await outbound().request(get(`http://127.0.0.1:${port}/${status}`))
      assert.equal(response.status, status)
      assert.equal(await textOf(response.body), '')
    }
  })

  test('HEAD: a content length does not mean that there is a body', async () => {
    const { port } = await serve((_request, response) => response.writeHead(200, { 'content-length': 5_000_000 }).end())
    const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/`), method: 'HEAD' })
    assert.equal(response.headers['content-length'], '5000000')
    assert.equal(await textOf(response.body), '')
  })

  test('forbidden targets are refused without a connection', async () => {
    const { port, connections } = await serve((_request, response) => response.end())
    const strict = outbound({ allowHttp: false, allowNetworks: [], lookup: () => assert.fail('it was resolved') })
    for (const [url, reason, code] of [
      [`http://127.0.0.1:${port}/`, 'forbidden_target', 'scheme'],
      [`https://127.0.0.1:${port}/`, 'forbidden_address', 'address'],
      [`https://[::1]:${port}/`, 'forbidden_address', 'address'],
      [`https://0x7f.1:${port}/`, 'forbidden_target', 'host_notation'],
      [`https://localhost:${port}/`, 'forbidden_target', 'local_name'],
      [`https://user@lists.example:${port}/`, 'forbidden_target', 'credentials'],
      ['https://lists.example:25/', 'forbidden_target', 'port'],
      ['https://169.254.169.254/latest/meta-data/', 'forbidden_address', 'address'],
    ] as const) {
      const error = await failsWith(reason, strict.request(get(url)))
      assert.equal(error.code, code)
      assert.deepEqual(strict.check(url), { ok: false, reason: code })
    }
    assert.equal(connections(), 0)
  })

  test('wrong options are a bug of the caller and throw at once', async () => {
    const good = get('http://127.0.0.1:9999/')
    for (const wrong of [
      { timeoutMs: 0 },
      { timeoutMs: Number.NaN },
      { timeoutMs: 2 ** 31 },
      { maxBytes: Number.NaN },
      { maxBytes: -1 },
      { maxBytes: Number.POSITIVE_INFINITY },
      { maxRedirects: 4 },
      { maxRedirects: -1 },
      { maxRedirects: Number.NaN },
    ])
      await assert.rejects(outbound().request({ ...good, ...wrong }), RangeError, JSON.stringify(wrong))
    for (const name of ['Host', 'cookie', 'User-Agent', 'Content-Length', 'Transfer-Encoding', 'Proxy-Authorization'])
      await assert.rejects(outbound().request({ ...good, headers: { [name]: 'x' } }), TypeError, name)
    await assert.rejects(outbound().request({ ...good, headers: { 'x-a': 'b\r\nhost: c' } }), TypeError)
    await assert.rejects(outbound().request({ ...good, headers: { 'x a': 'b' } }), TypeError)
    assert.throws(() => outbound({ allowNetworks: ['10.0.0.1/8'] }), Error)
  })

  test('a port without a listener is refused', async () => {
    const free = createNetServer()
    const { port } = await listen(free)
    free.close()
    await once(free, 'close')
    const error = await failsWith('refused', outbound().request(get(`http://127.0.0.1:${port}/`)))
    assert.equal(error.code, 'ECONNREFUSED')
  })

  test('an answer that is not HTTP is refused, and not quoted', async () => {
    const { port } = await listen(
      createNetServer((socket) => socket.once('data', () => socket.end(`${SECRET}\r\n\r\n`))),
    )
    const error = await failsWith('refused', outbound().request(get(`http://127.0.0.1:${port}/`)))
    assert.ok(!JSON.stringify([error, error.message, error.stack, Object.values(error)]).includes(SECRET))
  })

  test('an ended call leaves no connection open', async () => {
    const { port } = await serve((_request, response) => response.end('over'))
    const { signal } = new AbortController()
    const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/`), signal })
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    assert.equal(await textOf(response.body), 'over')
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    const startedAt = performance.now()
    assert.equal(await inChild(`http://127.0.0.1:${port}/`, {}), 'over')
    assert.ok(performance.now() - startedAt < 30_000, 'the process waited for the deadline')
  })

  test('proxies in the environment are ignored', async () => {
    const proxy = await serve((_request, response) => response.end('proxy'))
    const { port } = await serve((_request, response) => response.end('direct'))
    const url = `http://127.0.0.1:${proxy.port}`
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, ALL_PROXY: url }
    assert.equal(await inChild(`http://127.0.0.1:${port}/`, { env }), 'direct')
    assert.equal(proxy.connections(), 0)
  })
})

describe('names', () => {
  test('a name is resolved once and sent as Host, and the connection goes to its address', async () => {
    let host: string | undefined
    const { port } = await serve((request, response) => {
      host = request.headers.host
      response.end('yes')
    })
    const asked: string[] = []
    const lookup = async (name: string) => {
      asked.push(name)
      return ['127.0.0.1']
    }
    const response = await outbound({ lookup }).request(get(`http://Lists.Example:${port}/`))
    assert.equal(await textOf(response.body), 'yes')
    assert.equal(host, `lists.example:${port}`)
    assert.deepEqual(asked, ['lists.example'])
  })

  test('if a name changes its address, the connection goes only to the checked one', async () => {
    const { port, connections } = await serve((_request, response) => response.end('first'))
    const bait = await listen(createNetServer(), '127.0.0.2')
    let asked = 0
    const out = outbound({ lookup: async () => [++asked === 1 ? '127.0.0.1' : '127.0.0.2'] })
    assert.equal(await textOf((await out.request(get(`http://rebind.example:${port}/`))).body), 'first')
    assert.equal(asked, 1)
    await failsWith('forbidden_address', out.request(get(`http://rebind.example:${bait.port}/`)))
    assert.equal(asked, 2)
    assert.equal(connections(), 1)
    assert.equal(bait.connections(), 0)
  })

  test('one forbidden address at any position makes the name forbidden', async () => {
    const { port, connections } = await serve((_request, response) => response.end())
    for (const addresses of [
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.1', '::1', '::ffff:169.254.169.254'],
      ['127.0.0.1', '10.0.0.1'],
      ['127.0.0.1', 'fe80::1%lo'],
      ['127.0.0.1', '64:ff9b::7f00:1'],
      ['127.0.0.1', 'not an address'],
      ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2'],
      ['169.254.169.254'],
      ['0.0.0.0'],
      ['::'],
    ]) {
      const work = outbound({ lookup: async () => addresses }).request(get(`http://mixed.example:${port}/`))
      await failsWith('forbidden_address', work)
    }
    assert.equal(connections(), 0)
  })

  test('if an address cannot be reached, the next one is tried, at most three times', async () => {
    const { port, connections } = await serve((_request, response) => response.end('second'))
    const allowNetworks = ['127.0.0.0/8', '::1']
    const lookup = async () => ['::1', '127.0.0.9', '127.0.0.1']
    const response = await outbound({ allowNetworks, lookup }).request(get(`http://two.example:${port}/`))
    assert.equal(await textOf(response.body), 'second')
    const many = async () => ['::1', '127.0.0.9', '127.0.0.8', '127.0.0.7', '127.0.0.1']
    await failsWith('refused', outbound({ allowNetworks, lookup: many }).request(get(`http://many.example:${port}/`)))
    assert.equal(connections(), 1)
  })

  test('a request that may have arrived is not sent again', async () => {
    const server = createNetServer((socket) => socket.once('data', () => socket.destroy()))
    const { port, connections } = await listen(server)
    const out = outbound({ lookup: async () => ['127.0.0.1', '127.0.0.1'] })
    await failsWith('refused', out.request(get(`http://twice.example:${port}/`)))
    assert.equal(connections(), 1)
  })

  test('a name without an address, one whose query fails, and one whose query never ends are failures', async () => {
    const url = 'http://none.example:8080/'
    await failsWith('dns', outbound({ lookup: async () => [] }).request(get(url)))
    const fails = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    assert.equal((await failsWith('dns', outbound({ lookup: fails }).request(get(url)))).code, 'ENOTFOUND')
    const never = () => new Promise<never>(() => {})
    await failsWith('timeout', outbound({ lookup: never }).request({ ...get(url), timeoutMs: 30 }))
  })
})

describe('limits', () => {
  test('a declared length that is too large is not read at all', async () => {
    const { port, open } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1_001 }).flushHeaders()
    })
    await failsWith('too_large', outbound().request({ ...get(`http://127.0.0.1:${port}/`), maxBytes: 1_000 }))
    await eventually(() => open() === 0, 'the connection is closed')
  })

  test('an endless body is ended at the limit', async () => {
    let sent = 0
    const { port, open } = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, SECRET))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/`), maxBytes: 200_000 })
    let received = 0
    const error = await failsWith(
      'too_large',
      (async () => {
        for await (const chunk of response.body) received += chunk.length
      })(),
    )
    assert.ok(received <= 200_000, `${received} bytes were handed on`)
    assert.ok(!`${error.message}${error.stack}`.includes(SECRET))
    await eventually(() => open() === 0, 'the connection is closed')
    // The most that the system buffers for both sides of a connection.
    assert.ok(sent < 20_000_000, `${sent} bytes were sent`)
  })

  test('exactly the limit is fine', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/chunked') response.write('12345')
      response.end(request.url === '/chunked' ? '67890' : '1234567890')
    })
    for (const path of ['', 'chunked']) {
      const asked = { ...get(`http://127.0.0.1:${port}/${path}`), maxBytes: 10 }
      assert.equal(await textOf((await outbound().request(asked)).body), '1234567890')
    }
    const { body } = await outbound().request({ ...get(`http://127.0.0.1:${port}/chunked`), maxBytes: 9 })
    await failsWith('too_large', textOf(body))
  })

  test('headers have a limit too', async () => {
    const { port } = await serve((_request, response) => response.writeHead(200, { 'x-a': 'a'.repeat(20_000) }).end())
    await failsWith('too_large', outbound().request(get(`http://127.0.0.1:${port}/`)))
  })

  test('the deadline applies to a server that sends nothing, and to one that sends byte by byte', async () => {
    const silent = await listen(createNetServer((socket) => socket.resume()))
    await failsWith('timeout', outbound().request({ ...get(`http://127.0.0.1:${silent.port}/`), timeoutMs: 60 }))
    const trickle = (first: string) =>
      listen(
        createNetServer((socket) => {
          socket.resume().write(first)
          const timer = setInterval(() => socket.write('a'), 5)
          socket.once('close', () => clearInterval(timer))
        }),
      )
    const headers = await trickle('HTTP/1.1 200 OK\r\nx-a: ')
    await failsWith('timeout', outbound().request({ ...get(`http://127.0.0.1:${headers.port}/`), timeoutMs: 60 }))
    const body = await trickle('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n')
    const ranMs = startStopwatch()
    const response = await outbound().request({ ...get(`http://127.0.0.1:${body.port}/`), timeoutMs: 2_000 })
    await failsWith('timeout', textOf(response.body))
    await figureAtMost('outbound.given-up-ms', 3_500, ranMs())
    for (const { open } of [silent, headers, body]) await eventually(() => open() === 0, 'the connection is closed')
  })

  test('the connection of an unread body is closed at the deadline', async () => {
    const { port, open } = await serve((_request, response) => response.write('begin'))
    const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/`), timeoutMs: 2_000 })
    assert.equal(open(), 1)
    await eventually(() => open() === 0, 'the connection is closed')
    await failsWith('timeout', textOf(response.body))
  })

  test('a reader that is late gets an error, not a truncated body', async () => {
    const { port } = await serve((request, response) => {
      response.write('begin')
      if (request.url === '/whole') response.end()
      else setTimeout(() => response.end('end'), 20)
    })
    for (const path of ['', 'whole']) {
      const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/${path}`), timeoutMs: 2_000 })
      const read = async () => {
        for await (const _ of response.body) await sleep(2_100)
      }
      await failsWith('timeout', read())
    }
  })

  test('a reader that stops or discards the body closes the connection', async () => {
    const { port, open } = await serve((_request, response) => response.write('begin'))
    const read = await outbound().request(get(`http://127.0.0.1:${port}/`))
    for await (const chunk of read.body) {
      assert.equal(Buffer.from(chunk).toString(), 'begin')
      break
    }
    await eventually(() => open() === 0, 'the connection is closed')
    const discarded = await outbound().request(get(`http://127.0.0.1:${port}/`))
    discarded.discard()
    await eventually(() => open() === 0, 'the connection is closed')
    await failsWith('refused', textOf(discarded.body))
  })

  test('the caller’s signal ends a call at any point, with its own reason', async () => {
    const { port, open, connections } = await serve((request, response) => {
      if (request.url === '/begin') response.write('begin')
    })
    const reason = new Error('changed my mind')
    const aborted = { ...get(`http://early.example:${port}/`), signal: AbortSignal.abort(reason) }
    await assert.rejects(outbound({ lookup: () => assert.fail('it was resolved') }).request(aborted), reason)
    assert.equal(connections(), 0)

    const waiting = new AbortController()
    const asked = outbound().request({ ...get(`http://127.0.0.1:${port}/`), signal: waiting.signal })
    const rejected = assert.rejects(asked, reason)
    await eventually(() => connections() === 1, 'the call is under way')
    waiting.abort(reason)
    await rejected

    const reading = new AbortController()
    const { body } = await outbound().request({ ...get(`http://127.0.0.1:${port}/begin`), signal: reading.signal })
    const unread = assert.rejects(textOf(body), reason)
    reading.abort(reason)
    await unread

    const resolving = new AbortController()
    const never = outbound({ lookup: () => new Promise<never>(() => {}) })
    const stuck = never.request({ ...get('http://never.example:8080/'), signal: resolving.signal })
    resolving.abort(reason)
    await assert.rejects(stuck, reason)
    await eventually(() => open() === 0, 'the connections are closed')
  })

  test('a connection that breaks in the body is an error, not a short body', async () => {
    const endings: readonly ((socket: Socket) => void)[] = [
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end(),
    ]
    for (const head of ['Content-Length: 100', 'Transfer-Encoding: chunked'])
      for (const end of endings) {
        const { promise: begun, resolve } = Promise.withResolvers<Socket>()
        const { port } = await listen(
          createNetServer((socket) => {
            socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n5\r\nhello\r\n`))
            resolve(socket)
          }),
        )
        const response = await outbound().request(get(`http://127.0.0.1:${port}/`))
        end(await begun)
        await failsWith('refused', textOf(response.body))
      }
  })
})
