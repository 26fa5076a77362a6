import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { FIXTURE_API_KEY, webhookFixture } from '../fixtures/index.ts'
import { expressWebhook } from './index.ts'

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
