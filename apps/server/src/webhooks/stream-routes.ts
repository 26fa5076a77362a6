import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_LIMITS, EVENTS_INBOX_PATH, listEvents, type SessionArea } from '@ostiary/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ClientGate, callerOf, type Guard, type KeyService } from '../keys/index.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import { named, route } from '../platform/route.ts'
import type { EventStream, StreamPart, StreamReader } from './stream.ts'
import type { StreamSlots } from './stream-slots.ts'

interface Deps {
  stream: EventStream
  slots: StreamSlots
  guard: Guard
  keys: Pick<KeyService, 'check'>
  /** Results of area D need the client credentials that its own routes ask for. */
  credentials: ClientGate
  clock: Clock
  /** Whether the operator allows streams to live keys. */
  allowLive: boolean
}

const LOOK_EVERY_MS = 250
/** A revoked key is known within five seconds. Its stream asks so often, counted in looks. */
const CHECK_EVERY_LOOKS = 4

export async function eventRoutes(app: FastifyInstance, deps: Deps): Promise<void> {
  const { stream, slots, guard, allowLive } = deps
  let closing = false
  // A process that shuts down waits for its requests, and a stream would take a quarter of an hour.
  app.addHook('preClose', (done) => {
    closing = true
    done()
  })

  route(app, listEvents, {
    guard: guard.before(listEvents, 'events'),
    async handler(request, reply) {
      const { tenantId, livemode, keyId = '' } = callerOf(request)
      if (livemode && !allowLive) throw liveIsOff()
      const owner = { tenantId, livemode }
      const { cursor, wait = 0, limit = EVENT_LIMITS.pageDefault } = request.query
      const isStream = wantsStream(request)
      const areas = await areasOf(deps, request)
      const place = await stream.begin(owner, cursor ?? (isStream ? lastEventIdOf(request) : undefined))
      const call: StreamCall = {
        reader: { owner, areas, ...place },
        limit,
        isOver: () => closing || reply.raw.destroyed,
        areas: () => areasOf(deps, request),
      }
      if (!isStream && wait === 0) return stream.pageOf(owner, await stream.read(call.reader, limit))
      const free = slots.take(tenantId, keyId)
      if (isStream) return sendStream(reply, followEvents(deps, call), free)
      try {
        return stream.pageOf(owner, await waitForEvents(deps, call, wait))
      } finally {
        free()
      }
    },
  })
  app.post(EVENTS_INBOX_PATH, { onRequest: named('eventsInbox') }, () => {
    throw new AppError(
      'not_found',
      'NOT_FOUND',
      'Nothing is received here. As callback.url of a test key this address, exactly as PUBLIC_URL has it, sends events to GET /events',
    )
  })
}

interface StreamCall {
  reader: StreamReader
  limit: number
  /** Whether the caller has gone or the process ends. */
  isOver(): boolean
  /** The areas that the key may read now. Throws when it may be used no more. */
  areas(): Promise<readonly SessionArea[]>
}

/** Waits for the first events, at most so long. */
async function waitForEvents({ stream, clock }: Deps, call: StreamCall, seconds: number): Promise<StreamPart> {
  const endsMs = clock.monotonicMs() + seconds * 1000
  let { reader } = call
  let missed = false
  for (let looks = 1; ; ) {
    const part = await stream.read(reader, call.limit)
    missed ||= part.missed
    if (part.items.length > 0) return { ...part, missed }
    reader = { ...reader, after: part.after, fromStart: false }
    // News can be of another area, or an event that somebody has locked: each look has its pause, and the time runs.
    do {
      if (call.isOver() || clock.monotonicMs() >= endsMs) return { ...part, missed }
      await sleep(LOOK_EVERY_MS)
      if (looks++ % CHECK_EVERY_LOOKS === 0) reader = { ...reader, areas: await call.areas() }
    } while (!(await stream.hasNews(reader)))
  }
}

/** Server-sent events until the caller leaves, the key is refused, the process ends, or a quarter of an hour has passed. */
async function* followEvents({ stream, clock }: Deps, call: StreamCall): AsyncGenerator<string> {
  const endsMs = clock.monotonicMs() + EVENT_LIMITS.streamSeconds * 1000
  let { reader } = call
  let sentMs = clock.monotonicMs()
  // The place is known before the first event, so that a reader that loses the connection at once resumes there.
  yield `retry: 2000\nid: ${stream.cursorOf(reader.owner, reader.after)}\n\n`
  for (let looks = 1; !call.isOver() && clock.monotonicMs() < endsMs; looks++) {
    const hasNews = await stream.hasNews(reader)
    // Before each page too: who reads a long past comes to no pause.
    if (hasNews || looks % CHECK_EVERY_LOOKS === 0) {
      const areas = await call.areas().catch(endIfRefused)
      if (!areas) return
      reader = { ...reader, areas }
    }
    if (hasNews) {
      const part = await stream.read(reader, call.limit)
      if (part.missed) yield 'event: gap\ndata: {}\n\n'
      for (const item of part.items) yield `id: ${item.cursor}\nevent: ${item.event}\ndata: ${JSON.stringify(item)}\n\n`
      reader = { ...reader, after: part.after, fromStart: false }
      if (part.items.length > 0) sentMs = clock.monotonicMs()
      if (part.items.length === call.limit) continue
    }
    if (clock.monotonicMs() - sentMs >= EVENT_LIMITS.heartbeatSeconds * 1000) {
      sentMs = clock.monotonicMs()
      yield `: still here\nid: ${stream.cursorOf(reader.owner, reader.after)}\n\n`
    }
    await sleep(LOOK_EVERY_MS)
  }
}

/** The status was sent long ago. The reader learns the reason when it connects again. */
function endIfRefused(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}

function sendStream(reply: FastifyReply, events: AsyncGenerator<string>, free: () => void): FastifyReply {
  // A connection that has closed already emits no further event.
  if (reply.raw.destroyed) free()
  else reply.raw.once('close', free)
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(events))
}

const wantsStream = ({ headers }: FastifyRequest) => /(^|,)\s*text\/event-stream\b/i.test(headers.accept ?? '')

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}

const READS = { age: 'age:read', verification: 'verify:read' } as const

/**
 * The areas whose events a request may read. Throws when its key may read neither, is revoked, or is used from elsewhere, and when it may
 * read area D and the client credentials that the tenant requires there are missing or wrong.
 */
async function areasOf({ keys, credentials }: Deps, request: FastifyRequest): Promise<SessionArea[]> {
  const { headers, ip } = request
  const areas: SessionArea[] = []
  let denied: unknown
  for (const area of ['age', 'verification'] as const) {
    try {
      await keys.check(String(headers['x-api-key']), { scope: READS[area], address: ip })
      areas.push(area)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'SCOPE_DENIED')) throw error
      denied = error
    }
  }
  if (areas.length === 0) throw denied
  // Not left out: the cursor would pass events that the reader waits for.
  if (areas.includes('verification')) await credentials.check(request, callerOf(request))
  return areas
}

function liveIsOff(): AppError {
  return new AppError(
    'forbidden',
    'SCOPE_DENIED',
    'The event stream is for test keys here: the operator has not allowed live ones (EVENTS_LIVE)',
  )
}
