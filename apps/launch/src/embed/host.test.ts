import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHost, type LaunchMessage } from './host.ts'

function windowOf() {
  const posted: [LaunchMessage, string][] = []
  return {
    posted,
    window: { postMessage: (message: LaunchMessage, origin: string) => void posted.push([message, origin]) },
  }
}
const sessionId = '0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b'
const origins = ['https://shop.example', 'https://app.shop.example']

test('a message goes to every listed origin when the browser does not say where the host is', () => {
  const { window, posted } = windowOf()
  createHost(window, { sessionId, origins, knownOrigin: null }).send({ event: 'step', step: 'capture' })
  const message = { source: 'ostiary', version: 1, sessionId, event: 'step', step: 'capture' }
  assert.deepEqual(
    posted,
    origins.map((origin) => [message, origin]),
  )
})

test('if the browser names the host, only that origin gets the message', () => {
  const { window, posted } = windowOf()
  const host = createHost(window, { sessionId, origins, knownOrigin: 'https://shop.example' })
  host.send({ event: 'finished', flowStatus: 'COMPLETED', redirectUrl: 'https://shop.example/back' })
  assert.deepEqual(
    posted.map(([, origin]) => origin),
    ['https://shop.example'],
  )
})

test('a host that is not listed gets no message, and the page does not count as embedded', () => {
  const { window, posted } = windowOf()
  for (const host of [
    createHost(window, { sessionId, origins, knownOrigin: 'https://evil.example' }),
    createHost(window, { sessionId, origins: [], knownOrigin: null }),
  ]) {
    host.send({ event: 'ready' })
    assert.equal(host.isListening, false)
  }
  assert.deepEqual(posted, [])
})
