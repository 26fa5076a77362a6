import { base64url } from 'jose'

/** Bytes as base64url without padding, as the device API carries them. */
export function encodeBytes(bytes: Uint8Array): string {
  return base64url.encode(bytes)
}

/** Throws for a text that is no base64url. */
export function decodeBytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(base64url.decode(text))
}
