import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import { createServer as createNetServer } from 'node:net'
import { after, describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { eventually } from '@ostiary/testkit/eventually'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createOutbound, type OutboundOptions } from './index.ts'
import { createCertificate } from './testing/certificate.ts'
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

const folder = temporaryFolder('outbound')
after(() => closeServers())

describe('redirects', () => {
  test('are not followed unless asked for', async () => {
    const target = await serve((_request, response) => response.end())
    for (const status of [301, 302, 303, 307, 308]) {
      const { port } = await serve((_request, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${target.port}/` }).end(SECRET),
      )
      const error = await failsWith('redirect', outbound().request(get(`http://127.0.0.1:${port}/`)))
      assert.equal(error.status, status)
    }
    assert.equal(target.connections(), 0)
  })

  test('are followed up to the number asked for', async () => {
    const { port } = await serve((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('arrived')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const asked = (hops: number, maxRedirects: number) => ({ ...get(`http://127.0.0.1:${port}/${hops}`), maxRedirects })
    for (const hops of [1, 2, 3])
      assert.equal(await textOf((await outbound().request(asked(hops, hops))).body), 'arrived')
    await failsWith('redirect', outbound().request(asked(2, 1)))
    await failsWith('redirect', outbound().request(asked(4, 3)))
  })

  test('share one deadline', async () => {
    const { port } = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 60)
    })
    const asked = { ...get(`http://127.0.0.1:${port}/`), timeoutMs: 100, maxRedirects: 3 }
    await failsWith('timeout', outbound().request(asked))
  })

  test('lead only to targets that may be called directly', async () => {
    const bait = await listen(createNetServer(), '127.0.0.2')
    let location = ''
    const { port } = await serve((_request, response) => response.writeHead(302, { location }).end())
    const lookup = async (name: string) => [name === 'first.example' ? '127.0.0.1' : '127.0.0.2']
    for (const [to, reason] of [
      [`http://127.0.0.2:${bait.port}/`, 'forbidden_address'],
      [`//127.0.0.2:${bait.port}/`, 'forbidden_address'],
      [`http://0x7f.2:${bait.port}/`, 'forbidden_address'],
      [`http://[::ffff:127.0.0.2]:${bait.port}/`, 'forbidden_address'],
      [`http://second.example:${bait.port}/`, 'forbidden_address'],
      [`http://localhost:${bait.port}/`, 'forbidden_target'],
      [`http://user@127.0.0.1:${bait.port}/`, 'forbidden_target'],
      ['http://127.0.0.1:6379/', 'forbidden_target'],
      ['file:///etc/passwd', 'forbidden_target'],
      ['data:text/plain,x', 'forbidden_target'],
      [`/${'a'.repeat(3_000)}`, 'forbidden_target'],
      ['http://', 'redirect'],
      ['', 'redirect'],
    ] as const) {
      location = to
      const asked = { ...get(`http://first.example:${port}/`), maxRedirects: 3 }
      await failsWith(reason, outbound({ lookup }).request(asked))
    }
    assert.equal(bait.connections(), 0)
  })

  test('without a location are refused', async () => {
    const { port } = await serve((_request, response) => response.writeHead(302).end())
    await failsWith('redirect', outbound().request({ ...get(`http://127.0.0.1:${port}/`), maxRedirects: 1 }))
  })

  test('the name is resolved and checked again at each redirect', async () => {
    const { port, connections } = await serve((_request, response) =>
      response.writeHead(302, { location: '/again' }).end(),
    )
    let asked = 0
    const out = outbound({ lookup: async () => [++asked === 1 ? '127.0.0.1' : '127.0.0.2'] })
    await failsWith('forbidden_address', out.request({ ...get(`http://hop.example:${port}/`), maxRedirects: 3 }))
    assert.equal(connections(), 1)
  })

  test('another origin gets only the Accept header; the same origin gets all headers', async () => {
    const seen: (string | undefined)[][] = []
    const note = (request: IncomingMessage) =>
      seen.push([request.headers.host, request.headers.authorization, request.headers.accept])
    const second = await serve((request, response) => {
      note(request)
      response.end('arrived')
    })
    const { port } = await serve((request, response) => {
      note(request)
      const location = request.url === '/' ? '/same' : `http://127.0.0.1:${second.port}/`
      response.writeHead(307, { location }).end()
    })
    const headers = { Authorization: 'Bearer x', Accept: 'text/csv' }
    const response = await outbound().request({ ...get(`http://127.0.0.1:${port}/`), headers, maxRedirects: 2 })
    assert.equal(await textOf(response.body), 'arrived')
    assert.deepEqual(seen, [
      [`127.0.0.1:${port}`, 'Bearer x', 'text/csv'],
      [`127.0.0.1:${port}`, 'Bearer x', 'text/csv'],
      [`127.0.0.1:${second.port}`, undefined, 'text/csv'],
    ])
  })

  test('are never followed for methods that change something', async () => {
    const { port, connections } = await serve((_request, response) => response.writeHead(308, { location: '/x' }).end())
    const asked = { ...get(`http://127.0.0.1:${port}/`), method: 'POST', body: 'x', maxRedirects: 3 } as const
    await failsWith('redirect', outbound().request(asked))
    assert.equal(connections(), 1)
  })
})

describe('TLS', () => {
  const good = createCertificate('lists.example')
  const serveTls = (answer: RequestListener, options: ServerOptions = good) =>
    listen(createHttpsServer(options, answer))
  const secure = (options: Partial<OutboundOptions> = {}) =>
    outbound({ allowHttp: false, ca: good.cert, lookup: async () => ['127.0.0.1'], ...options })

  test('the certificate is checked for the name, and the name is sent', async () => {
    let serverName: string | false | undefined
    const { port } = await serveTls((request, response) => {
      serverName = (request.socket as TLSSocket & { servername?: string | false }).servername
      response.end(`${request.headers.host} ${(request.socket as TLSSocket).getProtocol()}`)
    })
    const response = await secure().request(get(`https://lists.example:${port}/`))
    assert.equal(await textOf(response.body), `lists.example:${port} TLSv1.3`)
    assert.equal(serverName, 'lists.example')
    const byAddress = await secure().request(get(`https://127.0.0.1:${port}/`))
    assert.equal(await textOf(byAddress.body), `127.0.0.1:${port} TLSv1.3`)
    assert.equal(serverName, false)
  })

  test('a certificate for another name, of an unknown authority, or none at all is refused', async () => {
    let reached = 0
    const { port } = await serveTls((_request, response) => {
      reached++
      response.end()
    })
    const wrongName = await failsWith('tls', secure().request(get(`https://other.example:${port}/`)))
    assert.equal(wrongName.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    const unknown = createOutbound({ version: '1', allowNetworks: ['127.0.0.1'], lookup: async () => ['127.0.0.1'] })
    await failsWith('tls', unknown.request(get(`https://lists.example:${port}/`)))
    const expired = createCertificate('lists.example', '200101000000Z')
    const old = await serveTls((_request, response) => response.end(), expired)
    await failsWith('tls', secure({ ca: expired.cert }).request(get(`https://lists.example:${old.port}/`)))
    const plain = await serve((_request, response) => response.end())
    await failsWith('tls', secure().request(get(`https://lists.example:${plain.port}/`)))
    assert.equal(reached, 0)
  })

  test('NODE_TLS_REJECT_UNAUTHORIZED changes nothing', async () => {
    const { port } = await serveTls((_request, response) => response.end())
    assert.equal(await inChild(`https://127.0.0.1:${port}/`, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }), 'tls')
  })

  test('nothing older than TLS 1.2', async () => {
    // Node started so that by itself it would speak every old version.
    const flags = ['--tls-min-v1.0', '--tls-cipher-list=DEFAULT@SECLEVEL=0']
    for (const [version, outcome] of [
      ['TLSv1.1', 'tls'],
      ['TLSv1.2', 'fine'],
    ] as const) {
      const options = { ...good, minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' } as const
      const { port } = await serveTls((_request, response) => response.end('fine'), options)
      assert.equal(await inChild(`https://127.0.0.1:${port}/`, { flags, ca: good.cert }), outcome)
    }
  })

  test('never from https to http', async () => {
    const plain = await serve((_request, response) => response.end('plain'))
    const { port } = await serveTls((request, response) => {
      const location = request.url === '/down' ? `http://127.0.0.1:${plain.port}/` : '/arrived'
      if (request.url === '/arrived') response.end('arrived')
      else response.writeHead(302, { location }).end()
    })
    const out = secure({ allowHttp: true })
    await failsWith('redirect', out.request({ ...get(`https://lists.example:${port}/down`), maxRedirects: 3 }))
    assert.equal(plain.connections(), 0)
    const response = await out.request({ ...get(`https://lists.example:${port}/`), maxRedirects: 3 })
    assert.equal(await textOf(response.body), 'arrived')
  })
})

describe('download', () => {
  const content = Buffer.alloc(700_000, 'a line of a list\n')

  test('a file appears complete under its name', async () => {
    const { port } = await serve((_request, response) => response.setHeader('etag', '"7"').end(content))
    const to = `${folder}/list.csv`
    for (let i = 0; i < 2; i++) {
      const done = await outbound().download(`http://127.0.0.1:${port}/`, { ...LIMITS, to })
      assert.equal(done.bytes, content.length)
      assert.equal(done.headers.etag, '"7"')
      const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
      assert.equal(hash(readFileSync(to)), hash(content))
      assert.equal(statSync(to).mode & 0o777, 0o600)
    }
    assert.deepEqual(readdirSync(folder), ['list.csv'])
  })

  test('a failed download leaves no new file, and the old one unchanged', async () => {
    const { port, open } = await serve((request, response) => {
      if (request.url === '/missing') response.writeHead(404).end(SECRET)
      else if (request.url === '/same') response.writeHead(304).end()
      else if (request.url === '/moved') response.writeHead(302, { location: '/' }).end(SECRET)
      else {
        response.write(content)
        if (request.url === '/breaks') setTimeout(() => request.socket.resetAndDestroy(), 40)
        if (request.url === '/whole') response.end()
      }
    })
    const before = readdirSync(folder)
    const download = (path: string, limits = {}) =>
      outbound().download(`http://127.0.0.1:${port}/${path}`, { ...LIMITS, ...limits, to: `${folder}/other.csv` })
    assert.equal((await failsWith('status', download('missing'))).status, 404)
    assert.equal((await failsWith('status', download('same'))).status, 304)
    await failsWith('redirect', download('moved'))
    await failsWith('refused', download('breaks'))
    await failsWith('too_large', download('whole', { maxBytes: 600_000 }))
    await failsWith('timeout', download('hangs', { timeoutMs: 100 }))
    const reason = new Error('shutting down')
    await assert.rejects(download('hangs', { signal: AbortSignal.abort(reason) }), reason)
    assert.deepEqual(readdirSync(folder), before)
    const nowhere = outbound().download(`http://127.0.0.1:${port}/whole`, { ...LIMITS, to: `${folder}/none/list.csv` })
    await assert.rejects(nowhere, { code: 'ENOENT' })
    assert.equal(existsSync(`${folder}/none`), false)
    await eventually(() => open() === 0, 'the connections are closed')
  })
})
