import { WebhookError } from './reasons.ts'

/** Headers as Node gives them (names in lower case), or those of a web `Request`. */
export type ReceivedHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** What arrived: a web `Request`, or its headers with the body as it came, before any JSON parser. */
export type ReceivedMessage =
  | Request
  | {
      /** All of them. */
      readonly headers: ReceivedHeaders
      /** The bytes as they came. */
      readonly body: Uint8Array | ArrayBuffer | string
    }

/** A webhook with pictures has a few megabytes. */
export const BODY_BYTES_MAX = 20 * 1024 * 1024

export interface SignedParts {
  id: string
  timestamp: string
  signature: string
}

const SHAPES = { 'webhook-id': /^[A-Za-z0-9_-]{1,100}$/, 'webhook-timestamp': /^\d{1,15}$/, 'webhook-signature': /./ }

/** The headers that a signature covers, and itself. */
export function signedPartsOf(headers: ReceivedHeaders): SignedParts {
  const [id, timestamp, signature] = Object.entries(SHAPES).map(([name, shape]) => {
    const value = headerOf(headers, name)
    if (value === undefined || !shape.test(value)) throw new WebhookError('headers_missing', `see ${name}`)
    return value
  })
  return { id: id ?? '', timestamp: timestamp ?? '', signature: signature ?? '' }
}

/** A header that came twice counts as absent: two verifiers could read different ones. */
export function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return typeof value === 'string' ? value : undefined
}

export async function bytesOf(message: ReceivedMessage): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = isRequest(message) ? await requestBytes(message) : toBytes(message.body)
  if (bytes.length > BODY_BYTES_MAX) throw new WebhookError('body_too_large')
  return bytes
}

async function requestBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (request.bodyUsed) throw new WebhookError('body_parsed', 'the body of the request was read before')
  if (Number(request.headers.get('content-length')) > BODY_BYTES_MAX) throw new WebhookError('body_too_large')
  if (!request.body) return new Uint8Array(await request.arrayBuffer())
  // Not all at once: a body that comes in chunks has no length to refuse, and must not fill the memory.
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  for (let size = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return joined(chunks)
    size += value.length
    chunks.push(value)
    if (size > BODY_BYTES_MAX) {
      await reader.cancel().catch(() => {})
      throw new WebhookError('body_too_large')
    }
  }
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

function toBytes(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new WebhookError(
    'body_parsed',
    `the body is of type ${body === null ? 'null' : typeof body}, not bytes or text`,
  )
}

/** Not `instanceof`: frameworks bring requests of their own. */
export function isRequest(message: ReceivedMessage): message is Request {
  return 'arrayBuffer' in message && typeof message.arrayBuffer === 'function'
}
