import { hash } from 'node:crypto'
import type { SessionArea } from '@ostiary/contract'
import { DAY_MS } from '../platform/clock.ts'
import { isId, timeOfId } from '../platform/ids.ts'

/** A message that a room wants to be sent. It is written in that room's transaction. */
export interface WebhookMessage {
  tenantId: string
  livemode: boolean
  /** The API key that created the session. Its text is the signing key while it is active. */
  keyId: string
  area: SessionArea
  /** Name of the event, as in `age.session.completed`. */
  event: string
  /** The session. */
  subjectId: string
  /** Order of the events of one session. */
  sequence: number
  /** Null when the host wants no webhook: then the message is in the event stream only, where there is one. */
  url: string | null
  headers: Readonly<Record<string, string>>
  /** The exact bytes that are signed and sent. */
  body: Buffer
  /**
   * Signed and sent instead of `body` until a delivery succeeds. It is deleted when the delivery succeeds or is dead, and when the
   * message is purged or erased; a replay sends `body`. For content that must not be readable again, such as pictures.
   */
  onceBody?: Buffer
  now: Date
  /** When the session's data is purged: nothing is sent from then on. */
  purgeAt: Date
}

/** The part that is sealed: everything that may be secret or personal. */
export interface Call {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

const LENGTH_BYTES = 4

/** Layout: length of the JSON part, the JSON part, the unchanged body. */
export function packCall({ url, headers, body }: Call): Buffer {
  const head = Buffer.from(JSON.stringify({ url, headers }))
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, body])
}

export function unpackCall(packed: Buffer): Call {
  const bodyAt = LENGTH_BYTES + packed.readUInt32BE(0)
  // We sealed and authenticated it, so it has the form that `packCall` wrote.
  const { url, headers } = JSON.parse(packed.toString('utf8', LENGTH_BYTES, bodyAt)) as Omit<Call, 'body'>
  return { url, headers, body: packed.subarray(bodyAt) }
}

/** Binds a sealed message to its row. */
export function sealContext(tenantId: string, deliveryId: string): string {
  return `webhook_deliveries/${tenantId}/${deliveryId}`
}

export function onceContext(tenantId: string, deliveryId: string): string {
  return `webhook_queue/${tenantId}/${deliveryId}/once`
}

export function streamContext(tenantId: string, eventId: string): string {
  return `stream_events/${tenantId}/${eventId}`
}

/**
 * Id of a receiver: one origin of one tenant in one mode. The same origin of another tenant is another receiver, so that failures
 * of one tenant's callbacks do not affect another tenant.
 */
export function endpointIdOf(tenantId: string, livemode: boolean, origin: string): string {
  const hex = hash('sha256', `ostiary/webhook-endpoint/${tenantId}/${livemode}/${origin}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** Whether a text can be the id of a delivery. An id from the far future cannot, and its time may not fit into a timestamp. */
export function isDeliveryId(text: string, now: Date): boolean {
  return isId(text) && timeOfId(text).getTime() < now.getTime() + DAY_MS
}

/** The smallest UUIDv7 of a moment. */
export function firstIdOf(moment: Date): string {
  const time = Math.max(0, moment.getTime()).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}
