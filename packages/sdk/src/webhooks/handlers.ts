import type { Logger } from '../options.ts'
import type { ReceivedEvent } from './event.ts'
import { BODY_BYTES_MAX, joined, type ReceivedHeaders, type ReceivedMessage } from './message.ts'
import { WebhookError } from './reasons.ts'
import { keysOf, type ReceiveOptions, receiveWebhook } from './receive.ts'

export interface HandlerOptions extends ReceiveOptions {
  /**
   * What your program does with an event. It has 10 seconds: put long work into a queue. If it throws, the answer is 500 and the webhook
   * comes again.
   */
  onEvent: (event: ReceivedEvent) => unknown
  /** Ids of events that were handled: a `Set`, or your database. An event whose id is in it is answered with 204 and not handled again. */
  seen?: {
    /** Whether the event was handled. */
    has(id: string): boolean | Promise<boolean>
    /** Called when it was. */
    add(id: string): unknown
  }
  /** Where refused webhooks and failures of `onEvent` are written. Default `console`; null: nowhere. */
  logger?: Logger | null
}

interface Answer {
  status: 204 | 400 | 500
  body: string
}

/** Answers messages of any framework. */
function createAnswering(options: HandlerOptions) {
  // A handler that could accept nothing is refused when the program starts.
  keysOf(options)
  const { onEvent, seen, logger = console } = options
  const running = new Map<string, Promise<void>>()

  async function handle(event: ReceivedEvent): Promise<void> {
    if (await seen?.has(event.id)) return
    await onEvent(event)
    await seen?.add(event.id)
  }

  /** Two attempts of one delivery can be here at the same time. */
  function handleOnce(event: ReceivedEvent): Promise<void> {
    const known = seen && running.get(event.id)
    if (known) return known
    const handling = handle(event).finally(() => running.delete(event.id))
    running.set(event.id, handling)
    return handling
  }

  return async (message: ReceivedMessage): Promise<Answer> => {
    try {
      await handleOnce(await receiveWebhook(message, options))
      return { status: 204, body: '' }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (error instanceof WebhookError) {
        logger?.warn(`ostiary: a webhook was refused: ${error.reason}: ${text}`)
        return { status: 400, body: JSON.stringify({ reason: error.reason }) }
      }
      logger?.warn(`ostiary: a webhook could not be handled and will come again: ${text}`)
      return { status: 500, body: JSON.stringify({ reason: 'handler_failed' }) }
    }
  }
}

/** For web `Request`s: `export const POST = webhookHandler({ … })` in a route of Next.js; Deno, Bun and workers alike. */
export function webhookHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const answer = createAnswering(options)
  return async (request) => {
    const { status, body } = await answer(request)
    return new Response(status === 204 ? null : body, { status, headers: { 'content-type': 'application/json' } })
  }
}

/** What the handler uses of Hono's context. */
export interface HonoContext {
  req: { raw: Request; arrayBuffer(): Promise<ArrayBuffer> }
}

/** For Hono: `app.post('/hooks/ostiary', honoWebhook({ … }))`. */
export function honoWebhook(options: HandlerOptions): (context: HonoContext) => Promise<Response> {
  const answer = createAnswering(options)
  return async ({ req }) => {
    // Hono keeps the body that a middleware has read, so this works after one too.
    const message = req.raw.bodyUsed ? { headers: req.raw.headers, body: await req.arrayBuffer() } : req.raw
    const { status, body: text } = await answer(message)
    return new Response(status === 204 ? null : text, { status, headers: { 'content-type': 'application/json' } })
  }
}

/** What the handler uses of a request of Node or Express. */
export interface NodeRequest extends AsyncIterable<unknown> {
  headers: Readonly<Record<string, string | string[] | undefined>>
  readableEnded?: boolean
  body?: unknown
  rawBody?: unknown
}

export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(text?: string): unknown
}

/**
 * For Express 5 and `node:http`: `app.post('/hooks/ostiary', expressWebhook({ … }))`. Put it before `express.json()`, or keep the bytes
 * by `express.raw({ type: 'application/json' })` on this route.
 */
export function expressWebhook(
  options: HandlerOptions,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const answer = createAnswering(options)
  return async (request, response) => {
    const body = await nodeBody(request).catch(() => LOST)
    // The sender is gone, and nobody waits for an answer. A rejection that nobody handles would end a `node:http` program.
    if (body === LOST) return
    const { status, body: text } = await answer({ headers: request.headers, body: body as Uint8Array })
    response.statusCode = status
    // The rest of a body that is too long stays unread, so the connection cannot go on.
    if (isTooLong(body)) response.setHeader('connection', 'close')
    if (text !== '') response.setHeader('content-type', 'application/json')
    response.end(text)
  }
}

const LOST = Symbol('lost')

/** The bytes, or what a parser has made of them: `receiveWebhook` then says so. Rejects when the connection is lost. */
async function nodeBody(request: NodeRequest): Promise<unknown> {
  if (request.rawBody !== undefined) return request.rawBody
  if (request.body !== undefined) return request.body
  if (request.readableEnded) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  // Not `for await`: leaving that loop early would cut the connection before the answer.
  const reader = request[Symbol.asyncIterator]()
  while (size <= BODY_BYTES_MAX) {
    const { done, value: chunk } = await reader.next()
    if (done) break
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array)
    size += bytes.length
    chunks.push(bytes)
  }
  return joined(chunks)
}

const isTooLong = (body: unknown) => body instanceof Uint8Array && body.length > BODY_BYTES_MAX

/** What the plugin uses of Fastify. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  post(path: string, handler: (request: FastifyMessage, reply: FastifyAnswer) => Promise<unknown>): unknown
}
export interface FastifyMessage {
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: unknown
}
export interface FastifyAnswer {
  code(status: number): { header(name: string, value: string): { send(body?: string): unknown } }
}

export interface FastifyOptions extends HandlerOptions {
  /** Of the route, such as `/hooks/ostiary`. */
  path: string
}

/**
 * For Fastify: `app.register(fastifyWebhook({ path: '/hooks/ostiary', … }))`. A plugin, because the body must stay bytes for this route
 * alone: the parsers of your other routes are not touched.
 */
export function fastifyWebhook({ path, ...options }: FastifyOptions) {
  const answer = createAnswering(options)
  return async (scope: FastifyScope): Promise<void> => {
    scope.removeAllContentTypeParsers()
    const bytes = { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX } as const
    scope.addContentTypeParser('*', bytes, (_, body, done) => done(null, body))
    scope.post(path, async ({ headers, body }, reply) => {
      const { status, body: text } = await answer({ headers: headers as ReceivedHeaders, body: body as Uint8Array })
      return reply.code(status).header('content-type', 'application/json').send(text)
    })
  }
}
