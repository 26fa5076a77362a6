import { base64url } from 'jose'

/**
 * The event log of a flow on a device. Every entry carries a hash over its own text and the hash of the entry before it, so
 * the server notices an entry that was changed, removed or moved. The chain proves order, not honesty: the device writes it.
 */
export interface UnchainedEvent {
  seq: number
  /** Milliseconds by the device's monotonic clock. */
  t: number
  type: string
  n?: number
}

/** The previous hash of the first entry: 32 zero bytes. */
export const CHAIN_START = 'A'.repeat(43)

/**
 * The text that is hashed. No part can contain a line break (hashes and types are words, the rest are whole numbers), so two
 * different entries never have the same text.
 */
export function eventText(previousHash: string, { seq, t, type, n }: UnchainedEvent): string {
  return `v1\n${previousHash}\n${seq}\n${t}\n${type}\n${n ?? ''}`
}

/** The entry with its hash: base64url of SHA-256. */
export async function chainEvent<E extends UnchainedEvent>(
  previousHash: string,
  event: E,
): Promise<E & { hash: string }> {
  const text = new TextEncoder().encode(eventText(previousHash, event))
  return { ...event, hash: base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', text))) }
}
