const BYTES = 8

/**
 * Names a picture by its features, without giving them away: the first eight bytes of their SHA-256, base64url. Two
 * pictures of a living face never have one digest, because no two leave a camera alike.
 */
export async function digestOf(features: Int8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', features))
  return btoa(String.fromCharCode(...hash.subarray(0, BYTES)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
