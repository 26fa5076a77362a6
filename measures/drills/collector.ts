/** For `alerts`: an OpenTelemetry collector and a receiver of webhooks in one, and a session whose trace goes through both. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { ApiKeyRecord, CreatedSession } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import { ostiary, type Started } from '@ostiary/testkit/run'

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
}
interface Batch {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
}

export async function startCollector() {
  const spans: Span[] = []
  const traceparents: string[] = []
  const server = createServer(async (request, response) => {
    const body = await json(request)
    if (request.url === '/hook') traceparents.push(String(request.headers.traceparent))
    else
      for (const { scopeSpans } of (body as Batch).resourceSpans) spans.push(...scopeSpans.flatMap((one) => one.spans))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    traceparents,
    stop: () => void server.close(),
  }
}
export type Collector = Awaited<ReturnType<typeof startCollector>>

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

/** Whether the spans of a session's creation and of its webhook hang together with the caller's, and a task has one. */
export async function followSession(
  api: Started,
  env: Readonly<Record<string, string>>,
  { url, spans, traceparents }: Collector,
): Promise<boolean> {
  const { id } = ostiary<{ id: string }>(env, 'tenants', 'create', 'Traced')
  const { api_key: key } = ostiary<ApiKeyRecord>(env, 'keys', 'create', '--tenant', id, '--test')
  const post = async (path: string, body: object) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json', traceparent: `00-${TRACE}-${CALLER}-01` }
    const response = await fetch(`${api.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const asked = { redirectUrl: 'https://shop.example/back', ageThreshold: 30, callback: { url: `${url}/hook` } }
  const { sessionId } = (await post('/session', asked)) as CreatedSession
  await post(`/test/sessions/${sessionId}/outcome`, { outcome: 'AGE_ABOVE_THRESHOLD' })
  const find = (name: string, parent: string) =>
    spans.find((span) => span.name === name && span.traceId === TRACE && span.parentSpanId === parent)
  const created = await eventually(() => find('createSession', CALLER), 'the creation has a span')
  const webhook = await eventually(() => find('webhook', created.spanId), 'the webhook has a span')
  await eventually(() => spans.some(({ name, parentSpanId }) => name.startsWith('purge-') && !parentSpanId), 'a task')
  return traceparents.length === 1 && traceparents[0] === `00-${TRACE}-${webhook.spanId}-01`
}
