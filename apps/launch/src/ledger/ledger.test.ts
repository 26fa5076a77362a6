import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLedger, kindOf } from './ledger.ts'

const PAGE = 'https://check.example/launch/?sessionId=0d4f1c52'

function ledgerWith() {
  const sent: [string, RequestInit | undefined][] = []
  let nowMs = 1000
  const ledger = createLedger({
    pageUrl: PAGE,
    clock: { nowMs: () => nowMs++ },
    fetch: async (url, options) => {
      sent.push([String(url), options])
      return new Response('ok')
    },
  })
  return { ledger, sent }
}

test('each request is listed with its body size and its purpose', async () => {
  const { ledger } = ledgerWith()
  const body = new TextEncoder().encode('{"sessionId":"0d4f1c52"}')
  await ledger.fetch('https://check.example/launch/api/open', { method: 'POST', body })
  await ledger.fetch('https://check.example/launch/api/status?sessionId=0d4f1c52')
  await ledger.fetch('https://check.example/launch/api/submit', { method: 'post', body: 'ümläut' })
  assert.deepEqual(ledger.entries(), [
    { atMs: 1000, method: 'POST', path: '/launch/api/open', bytesOut: 24, kind: 'call' },
    { atMs: 1001, method: 'GET', path: '/launch/api/status?sessionId=0d4f1c52', bytesOut: 0, kind: 'call' },
    { atMs: 1002, method: 'POST', path: '/launch/api/submit', bytesOut: 8, kind: 'submit' },
  ])
})

test('the request is sent unchanged, and listed even if it fails', async () => {
  const { ledger, sent } = ledgerWith()
  const options = { method: 'POST', body: 'x', headers: { 'x-device-proof': 'p' } }
  assert.equal(await (await ledger.fetch('/launch/api/open', options)).text(), 'ok')
  assert.deepEqual(sent, [['/launch/api/open', options]])
  const offline = createLedger({
    pageUrl: PAGE,
    clock: { nowMs: () => 1 },
    fetch: () => Promise.reject(new TypeError('offline')),
  })
  await assert.rejects(offline.fetch('/launch/api/open', options), /offline/)
  assert.equal(offline.entries().length, 1)
})

test('a body that cannot be counted is not sent', async () => {
  const { ledger, sent } = ledgerWith()
  assert.throws(() => ledger.fetch('/x', { method: 'POST', body: new FormData() }), /counted/)
  assert.throws(() => ledger.fetch(new Request('https://check.example/x', { method: 'POST', body: 'x' })), /counted/)
  assert.equal(sent.length, 0)
  await ledger.fetch('/x', { method: 'POST', body: new Blob(['abc']) })
  await ledger.fetch('/x', { method: 'POST', body: new ArrayBuffer(5) })
  await ledger.fetch(new Request('https://check.example/launch/x'))
  assert.deepEqual(
    ledger.entries().map(({ bytesOut }) => bytesOut),
    [3, 5, 0],
  )
})

test('requests made elsewhere are listed with their own time', () => {
  const { ledger } = ledgerWith()
  ledger.note({ method: 'GET', url: '/launch/models/manifest.json', bytesOut: 0 })
  ledger.note({ method: 'GET', url: PAGE, bytesOut: 0, atMs: 400 })
  assert.deepEqual(
    ledger.entries().map(({ path, kind }) => [path, kind]),
    [
      ['/launch/?sessionId=0d4f1c52', 'page'],
      ['/launch/models/manifest.json', 'model'],
    ],
  )
})

test('a listener gets every entry until it unsubscribes', () => {
  const { ledger } = ledgerWith()
  let heard = 0
  const enough = ledger.onChange(() => {
    heard += 1
  })
  ledger.note({ method: 'GET', url: '/a', bytesOut: 0 })
  enough()
  ledger.note({ method: 'GET', url: '/b', bytesOut: 0 })
  assert.equal(heard, 1)
})

test('an entry shows another origin, but no fragment, because that is never sent', () => {
  const { ledger } = ledgerWith()
  ledger.note({ method: 'POST', url: 'https://api.example/launch/api/open#h=code', bytesOut: 1 })
  assert.equal(ledger.entries()[0]?.path, 'https://api.example/launch/api/open')
})

describe('the path of a request gives its purpose:', () => {
  const cases = [
    ['assets/index-abc.js', 'page'],
    ['models/blazeface/0123/blazeface.onnx', 'model'],
    ['ort/1.30.0/ort-wasm-simd-threaded.wasm', 'model'],
    ['https://api.example/launch/api/submit', 'submit'],
    ['https://api.example/launch/api/document/submit', 'submit'],
    ['https://api.example/launch/api/token/enrol', 'token'],
    ['https://api.example/launch/api/token/probe', 'token'],
    ['https://api.example/launch/api/token/begin', 'call'],
    ['https://api.example/launch/api/events', 'call'],
    ['/models/elsewhere.onnx', 'page'],
  ] as const
  for (const [url, kind] of cases) test(`${url}: ${kind}`, () => assert.equal(kindOf(url, PAGE), kind))
})
