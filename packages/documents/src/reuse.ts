import type { DocumentText } from './types.ts'

/** 64 of the 256 bits: enough to see a document twice in a day, and as short as a mark can be. */
const MARK_BYTES = 8

/**
 * A mark of a document that is the same whenever the same document is shown under the same key: 11 characters of base64url.
 * It is not anonymous, because the holder of the key can test document numbers. Undefined for a document without a number.
 */
export async function reuseMark(
  { issuer, number }: Pick<DocumentText, 'issuer' | 'number'>,
  key: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  if (number === undefined) return undefined
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  const message = new TextEncoder().encode(`${issuer}\n${number.replaceAll(/[^A-Z0-9]/g, '')}`)
  const mark = new Uint8Array(await crypto.subtle.sign('HMAC', imported, message), 0, MARK_BYTES)
  return toBase64Url(mark)
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
