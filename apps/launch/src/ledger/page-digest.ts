/**
 * The build writes this file: the digest of the page, a space, and the name of the page's script. The server that sends the page sends
 * this file too, so only a digest that was published elsewhere proves anything (docs/releasing.md).
 */
export const DIGEST_PATH = 'digest.txt'

/** The digest of the built page. Null if the server has another release by now than the running script. */
export async function readPageDigest(fetch: typeof globalThis.fetch, scriptUrl = ''): Promise<string | null> {
  const [digest, script] = (await (await fetch(DIGEST_PATH)).text()).split(/\s/)
  return digest && script && scriptUrl.endsWith(`/${script}`) ? digest : null
}
