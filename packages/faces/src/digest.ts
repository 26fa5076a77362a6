const BYTES = 8

/**
 * A digest of a picture's features that does not reveal them: the first eight bytes of their SHA-256, base64url. Two
 * pictures of a living face never have the same digest, because no two camera pictures are equal.
 */
export async function digestOf(features: Int8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', features))
  return btoa(String.fromCharCode(...hash.subarray(0, BYTES)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
