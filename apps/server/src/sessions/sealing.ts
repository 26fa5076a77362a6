import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { SessionArea } from '@ostiary/contract'
import { takeRandom } from '../platform/random.ts'

/**
 * The content of a session is sealed with a key of its own, and the vault seals that key. Once the key's row is deleted, remains
 * of the session in a database page or a backup cannot be read with the rest of the database.
 */
export const DATA_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Binds a sealed key to its row. */
export const tagKeyContextOf = (tenantId: string) => `session_tag_keys/${tenantId}`

export type SealedPart = 'request' | 'progress' | 'result' | 'return'

/** The columns of a session that anybody who can write to the database could change. */
interface Owner {
  tenantId: string
  livemode: boolean
  area: SessionArea
}

/** The sealed request, which also says whose it is. Sessions of the last release do not. */
type BoundRequest = object & { sealedFor?: string }

const ownerOf = ({ tenantId, livemode, area }: Owner) => `${tenantId}/${livemode ? 'live' : 'test'}/${area}`

/**
 * Every part of a session is authenticated for the session's id. The request also names tenant, mode and area, so a row that was moved to
 * another tenant or mode does not open: no part of a session opens without its request, and nobody without the data key can make another
 * request. It is a member of the request and not associated data of the cipher, because processes of the last release, which
 * run beside this one during an upgrade, must open the rows too.
 */
export function bindRequest(request: object, owner: Owner): Buffer {
  return Buffer.from(JSON.stringify({ ...request, sealedFor: ownerOf(owner) } satisfies BoundRequest))
}

/**
 * The request, when it is this owner's. A request without an owner comes from the last release and is accepted. That opens nothing else,
 * because the owner cannot be taken out of a sealed request. Such sessions are gone when their retention is over; `ostiary reseal` binds them
 * when it moves them to a new master key.
 */
export function readRequest(content: Buffer, owner: Owner): { request: object; isBound: boolean } {
  // Sealed and authenticated, so it is what this service wrote.
  const { sealedFor, ...request }: BoundRequest = JSON.parse(content.toString())
  if (sealedFor !== undefined && sealedFor !== ownerOf(owner))
    throw new Error('The session was sealed for another tenant, mode or area')
  return { request, isBound: sealedFor !== undefined }
}

export function newDataKey(): KeyObject {
  return toDataKey(takeRandom(DATA_KEY_BYTES))
}

/** A key object, because OpenSSL imports bare bytes again for each use. */
export function toDataKey(bytes: Buffer): KeyObject {
  return createSecretKey(bytes)
}

export function sealPart(dataKey: KeyObject, sessionId: string, part: SealedPart, content: Uint8Array): Buffer {
  const nonce = takeRandom(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', dataKey, nonce)
  cipher.setAAD(Buffer.from(`${sessionId}/${part}`))
  return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

export function openPart(dataKey: KeyObject, sessionId: string, part: SealedPart, sealed: Buffer): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('Not a sealed part of a session')
  const decipher = createDecipheriv('aes-256-gcm', dataKey, sealed.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(`${sessionId}/${part}`))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
}

/** Entries of the metadata that a list can be filtered by. */
const MAX_TAGS = 16

/**
 * Metadata is sealed, but the host finds sessions by it. Each text, number or boolean at its top level becomes a 64-bit tag under
 * a key of the tenant: equal values have equal tags, and the tag does not reveal the value. Tags are text, because a bigint of
 * PostgreSQL is wider than a JavaScript number.
 */
export function tagsOf(tagKey: KeyObject, livemode: boolean, metadata: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, MAX_TAGS)
    .map(([name, value]) => {
      const text = JSON.stringify([livemode, name, value])
      return createHmac('sha256', tagKey).update(text).digest().readBigInt64BE(0).toString()
    })
}

/** The whole hash, for values that are found by it alone. Its input says that it is a hash, so it never equals a tag of metadata. */
export function hashOf(tagKey: KeyObject, parts: readonly (string | boolean)[]): string {
  return createHmac('sha256', tagKey)
    .update(JSON.stringify(['hash', ...parts]))
    .digest('base64url')
}
