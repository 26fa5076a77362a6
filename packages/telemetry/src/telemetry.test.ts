import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { startTracing } from './index.ts'

interface Sent {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] }
    scopeSpans: { spans: ReceivedSpan[] }[]
  }[]
}
interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: object }[]
  status: { code: number }
}

const received: Sent[] = []
const collector = createServer(async (request, response) => {
  if (request.url === '/v1/traces') received.push((await json(request)) as Sent)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}).listen(0, '127.0.0.1')
await once(collector, 'listening')
after(() => collector.close())
const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

const about = { serviceName: 'ostiary', version: '1.2.3', ratio: 1 }
const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', isSampled: true }

test('a collector gets the spans with their parents, and what the caller did not sample is not sent', async () => {
  const tracing = startTracing({ url, ...about })
  const request = tracing.start({ name: 'request', kind: 'server', parent })
  assert.match(request.traceparent, new RegExp(`^00-${parent.traceId}-(?!${parent.spanId})[0-9a-f]{16}-01$`))
  request.end({
    name: 'createSession',
    attributes: { 'http.response.status_code': 503, left: undefined },
    isError: true,
  })
  tracing
    .start({ name: 'unwanted', kind: 'server', parent: { ...parent, isSampled: false } })
    .end({ attributes: {}, isError: false })
  tracing.start({ name: 'task', kind: 'internal' }).end({ attributes: {}, isError: false })
  await tracing.stop()
  const [{ resource, scopeSpans } = assert.fail()] = received.flatMap(({ resourceSpans }) => resourceSpans)
  assert.ok(resource.attributes.some(({ key, value }) => key === 'service.name' && value.stringValue === 'ostiary'))
  const spans = scopeSpans.flatMap(({ spans }) => spans)
  assert.deepEqual(
    spans.map(({ name, kind, parentSpanId, status }) => [name, kind, parentSpanId, status.code]),
    [
      ['createSession', 2, parent.spanId, 2],
      ['task', 1, undefined, 0],
    ],
  )
  assert.deepEqual(spans[0]?.attributes, [{ key: 'http.response.status_code', value: { intValue: 503 } }])
  assert.notEqual(spans[1]?.traceId, parent.traceId)
})

test('a collector that is away fails nothing', async () => {
  const tracing = startTracing({ url: 'http://127.0.0.1:1', ...about })
  tracing.start({ name: 'request', kind: 'server' }).end({ attributes: {}, isError: false })
  await tracing.stop()
})
