import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Two capabilities, never interchangeable. The session id is in the launch URL: its holder can run the flow and cannot
 * read the result. The token is for the host: its holder reads the result. The id is a UUIDv8:
 *
 *   hhhhhhrr-rrrr-8 bbb - v rrr-rrrrrrrrrrrr
 *   24 bits hour of creation, for the partition; 10 bits bucket, for the cell; 88 random bits
 *
 * The token is `at_` and base64url of the id's 16 bytes and 32 random ones; only its hash is kept in the clear row.
 */
const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TOKEN = /^at_[A-Za-z0-9_-]{64}$/
const HOUR_MS = 3_600_000
const SECRET_BYTES = 32

type Random = (count: number) => Uint8Array

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text)
}

export function newSessionId(bucket: number, now: Date, random: Random): string {
  const bytes = Buffer.from(random(16))
  bytes.writeUIntBE(Math.floor(now.getTime() / HOUR_MS), 0, 3)
  bytes.writeUInt16BE(0x8000 | (bucket << 2) | ((bytes[7] ?? 0) & 3), 6)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return textOf(bytes)
}

/** The hour in which a session was made: where to look for it. Only for texts that `isSessionId` accepts. */
export function hourOf(sessionId: string): { from: Date; to: Date } {
  const from = Number.parseInt(sessionId.slice(0, 6), 16) * HOUR_MS
  return { from: new Date(from), to: new Date(from + HOUR_MS) }
}

/** Where a user runs the session. */
export function launchUrlFor(launchUrl: string, sessionId: string): string {
  return `${launchUrl}${launchUrl.includes('?') ? '&' : '?'}sessionId=${sessionId}`
}

export function newToken(sessionId: string, random: Random): string {
  return `at_${Buffer.concat([bytesOf(sessionId), random(SECRET_BYTES)]).toString('base64url')}`
}

/** The session a token is for, as far as its form tells. Its hash decides. */
export function sessionOfToken(token: string): string | undefined {
  if (!TOKEN.test(token)) return undefined
  const sessionId = textOf(Buffer.from(token.slice(3), 'base64url').subarray(0, 16))
  return isSessionId(sessionId) ? sessionId : undefined
}

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

export function isTokenOf(token: string, hash: Uint8Array): boolean {
  return timingSafeEqual(hashToken(token), hash)
}

function bytesOf(sessionId: string): Buffer {
  return Buffer.from(sessionId.replaceAll('-', ''), 'hex')
}

function textOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
