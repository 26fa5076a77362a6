import { CompactEncrypt, compactDecrypt, decodeProtectedHeader, importJWK } from 'jose'
import type { PublicJwk } from './device-proof.ts'
import { type PrivateJwk, SealError } from './sealed-payload.ts'

/**
 * What a device sends to the key holder through the matcher: a compact JWE (`ECDH-ES` on P-256, `A256GCM`) to the key whose
 * fingerprint is pinned in the page's build. The matcher passes it on and cannot read it. The content is a JSON text, a line feed,
 * and the bytes of a key share where there is one.
 */
const ALG = 'ECDH-ES'
const ENC = 'A256GCM'
const TYPE = 'ostiary-key-holder'
const ECDH = { name: 'ECDH', namedCurve: 'P-256' } as const
const LINE_FEED = 10
const ALGORITHMS = { keyManagementAlgorithms: [ALG], contentEncryptionAlgorithms: [ENC] }

export async function sealForKeyHolder(
  publicJwk: PublicJwk,
  message: object,
  bytes: Uint8Array = new Uint8Array(),
): Promise<string> {
  const { kty, crv, x, y } = publicJwk
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDH, false, [])
  const text = new TextEncoder().encode(JSON.stringify(message))
  const content = new Uint8Array(text.length + 1 + bytes.length)
  content.set(text)
  content[text.length] = LINE_FEED
  content.set(bytes, text.length + 1)
  return new CompactEncrypt(content).setProtectedHeader({ alg: ALG, enc: ENC, typ: TYPE }).encrypt(key)
}

/** Throws a SealError for anything else than a message of ours. What it says is still only a claim of the device. */
export async function openAtKeyHolder(
  privateJwk: PrivateJwk,
  compact: string,
  maxChars: number,
): Promise<{ message: unknown; bytes: Uint8Array }> {
  if (compact.length > maxChars) throw new SealError('size')
  const content = await decrypt(privateJwk, compact)
  const end = content.indexOf(LINE_FEED)
  if (end < 0) throw new SealError('json')
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content.subarray(0, end))
    return { message: JSON.parse(text), bytes: content.subarray(end + 1) }
  } catch {
    throw new SealError('json')
  }
}

async function decrypt(privateJwk: PrivateJwk, compact: string): Promise<Uint8Array> {
  let typ: unknown
  try {
    typ = decodeProtectedHeader(compact).typ
  } catch {
    throw new SealError('format')
  }
  if (typ !== TYPE) throw new SealError('header')
  try {
    return (await compactDecrypt(compact, await importJWK({ ...privateJwk }, ALG), ALGORITHMS)).plaintext
  } catch {
    throw new SealError('key')
  }
}
