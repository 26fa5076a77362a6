import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { FIXTURE_API_KEY, webhookFixture } from '../fixtures/index.ts'
import { expressWebhook, honoWebhook, webhookHandler } from './index.ts'

test('node:http: a sender that breaks off does not end the program', async () => {
  const handler = expressWebhook({ apiKey: FIXTURE_API_KEY, onEvent: () => {}, logger: null })
  const handled: Promise<unknown>[] = []
  const server = createServer((request, response) => {
    handled.push(handler(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const socket = connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nhost: shop.example\r\ncontent-length: 100\r\n\r\nabc')
    await once(server, 'request')
    socket.destroy()
    assert.deepEqual(await Promise.allSettled(handled), [{ status: 'fulfilled', value: undefined }])
    const { headers, body } = await webhookFixture('age.session.completed')
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
    assert.equal(answer.status, 204)
  } finally {
    server.close()
  }
})

test('[U7] node:http: a body is read no further than a webhook can be long', async () => {
  const handler = expressWebhook({ apiKey: FIXTURE_API_KEY, onEvent: () => {}, logger: null })
  const { promise: answered, resolve } = Promise.withResolvers<[number, unknown]>()
  const server = createServer(async (request, response) => {
    await handler(request, response)
    resolve([response.statusCode, response.getHeader('connection')])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  try {
    const closed = new Promise((done) => socket.on('close', done).on('error', done))
    socket.write('POST / HTTP/1.1\r\nhost: shop.example\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1024 * 1024), Buffer.from('\r\n')])
    const feed = () => {
      let hasRoom = true
      while (hasRoom && !socket.destroyed) hasRoom = socket.write(chunk)
    }
    socket.on('drain', feed)
    feed()
    assert.deepEqual(await answered, [400, 'close'])
    await closed
    assert.ok(socket.bytesWritten < 60 * 1024 * 1024, `${socket.bytesWritten} bytes`)
  } finally {
    socket.destroy()
    server.close()
  }
})

test('a body without a length is read no further than a webhook can be long', async () => {
  const options = { apiKey: FIXTURE_API_KEY, onEvent: () => {}, logger: null }
  const { headers } = await webhookFixture('age.session.completed')
  const web = webhookHandler(options)
  const hono = honoWebhook(options)
  for (const handle of [web, (raw: Request) => hono({ req: { raw, arrayBuffer: () => raw.arrayBuffer() } })]) {
    let sent = 0
    const chunk = new Uint8Array(1024 * 1024)
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent++
        if (sent <= 60) controller.enqueue(chunk)
        else controller.close()
      },
    })
    const init = { method: 'POST', headers, body: endless, duplex: 'half' } as RequestInit
    const answer = await handle(new Request('http://shop.example/hook', init))
    assert.deepEqual([answer.status, await answer.json()], [400, { reason: 'body_too_large' }])
    assert.ok(sent < 30, `${sent} MB were read`)
  }
})
