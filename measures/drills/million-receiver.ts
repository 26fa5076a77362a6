/**
 * The process of some receivers of the million: it writes each request to its records and answers when they are on disk. One request in a
 * hundred is refused, and some connections break before or after the record is written, or hang. It may be killed at any moment, and
 * starts again on the same ports.
 */
import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { signStandardWebhook, standardWebhookSecret, verifyWebhook } from '@ostiary/crypto'
import { sleep } from '@ostiary/testkit/run'
import type { Ending } from './lost-and-found.ts'
import { ARRIVAL_BYTES, HASH_BYTES, openRecords, type RecordFile, toId, writeArrival } from './million-records.ts'

export interface ReceiverPlace {
  number: number
  port: number
  key: string
}
export type ReceiverOrder =
  | { do: 'open'; file: string; places: readonly ReceiverPlace[] }
  /** Asks for a word when the next request is here. Its answer waits for a while, so that a kill meets it. */
  | { do: 'watch' }
export type ReceiverWord = 'open' | 'request' | { taken: number }

const HOLD_MS = 300
const REPORT_MS = 1_000

/** Shares of the requests, added up. `forget` writes the request down and then breaks the connection: it comes again. */
const MANNERS = [
  { below: 0.01, manner: 'refuse' },
  { below: 0.013, manner: 'reset' },
  { below: 0.014, manner: 'forget' },
  { below: 0.0141, manner: 'hang' },
] as const
type Manner = (typeof MANNERS)[number]['manner'] | 'take'
const mannerOf = (random: number): Manner => MANNERS.find(({ below }) => random < below)?.manner ?? 'take'

let records: RecordFile | undefined
let isWatched = false
let taken = 0
const say = (word: ReceiverWord) => process.send?.(word)

async function open({ number, port, key }: ReceiverPlace): Promise<void> {
  const secret = await standardWebhookSecret(key)
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    receive({ number, key, secret }, request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
}

interface Receiver {
  number: number
  key: string
  secret: string
}

async function receive(receiver: Receiver, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (isWatched) {
    isWatched = false
    say('request')
    await sleep(HOLD_MS)
  }
  const manner = mannerOf(Math.random())
  const isTaken = manner === 'take' || manner === 'forget'
  await records?.append(await recordOf(receiver, request, body, isTaken))
  if (isTaken) taken++
  if (manner === 'take') response.writeHead(200, { 'content-length': '2' }).end('{}')
  else if (manner === 'refuse') response.writeHead(500, { 'content-length': '0' }).end()
  else if (manner !== 'hang') response.socket?.resetAndDestroy()
}

async function recordOf(
  { number, key, secret }: Receiver,
  { headers }: IncomingMessage,
  body: Buffer,
  isTaken: boolean,
): Promise<Buffer> {
  const text = (name: string) => String(headers[name] ?? '')
  const deliveryId = text('x-service-delivery')
  const standard = await signStandardWebhook(secret, { id: deliveryId, timestamp: text('webhook-timestamp'), body })
  const isSigned = await verifyWebhook({
    apiKey: key,
    timestamp: text('x-service-timestamp'),
    signature: text('x-service-signature'),
    body,
    nowSeconds: Date.now() / 1000,
  })
  const said = JSON.parse(body.toString()) as { sessionId: string; flowStatus?: Ending; outcome: Ending }
  return writeArrival({
    id: toId(said.sessionId),
    deliveryId: toId(deliveryId),
    bodyHash: hash('sha256', body, 'buffer').subarray(0, HASH_BYTES),
    receiver: number,
    ending: said.flowStatus ?? said.outcome,
    isGenuine: isSigned && text('webhook-signature') === standard && text('webhook-id') === deliveryId,
    isTaken,
  })
}

process.on('message', async (order: ReceiverOrder) => {
  if (order.do === 'watch') {
    isWatched = true
    return
  }
  records = await openRecords(order.file, ARRIVAL_BYTES)
  await Promise.all(order.places.map(open))
  say('open')
  setInterval(() => say({ taken }), REPORT_MS)
})
process.once('disconnect', () => process.exit(0))
// Ctrl-C reaches every process; the parent ends this one when the piece is over.
process.on('SIGINT', () => {})
