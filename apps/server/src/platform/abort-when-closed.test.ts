import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { abortWhenClosed } from './abort-when-closed.ts'

const signals: PromiseWithResolvers<AbortSignal>[] = []
const server = createServer((request, raw) => {
  signals.shift()?.resolve(abortWhenClosed({ raw }))
  if (request.url === '/answered') raw.end('done')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

function call(path: string) {
  const arrived = Promise.withResolvers<AbortSignal>()
  signals.push(arrived)
  const { port } = server.address() as AddressInfo
  const request = get({ host: '127.0.0.1', port, path, agent: false })
  request.on('error', () => {})
  return { request, signal: arrived.promise }
}

test('the signal aborts when the caller closes the connection before the reply', async () => {
  const { request, signal: arrived } = call('/never')
  const signal = await arrived
  assert.equal(signal.aborted, false)
  request.destroy()
  await once(signal, 'abort')
  assert.equal(signal.reason.code, 'REQUEST_TIMEOUT')
})

test('the signal does not abort after a complete reply', async () => {
  const { request, signal: arrived } = call('/answered')
  const signal = await arrived
  const [response] = await once(request, 'response')
  response.resume()
  await once(response, 'close')
  assert.equal(signal.aborted, false)
})
