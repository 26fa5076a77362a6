import { toBase64Url } from './client-assertion.ts'

/** What your server knows when a user comes back from the launch page. */
export interface ReturnFacts {
  /** The URL that the browser has called, or its query. */
  url: string | URL
  /** The state in the browser's cookie, which you had set before you sent the user away. */
  state: string | undefined
  /** The session that you had created for this state. */
  sessionId: string | undefined
  /** Of the webhook whose signature you have checked, or of the result that you have read. */
  codeHash: string | null | undefined
}

/**
 * Whether this browser belongs to the session. `isBound`: the cookie, the session and the code agree, so what the session has found is about
 * this browser's user. Otherwise `reason` says what is wrong:
 * - `other_browser`: the cookie or the session is not this browser's. Somebody may have sent the link to somebody else.
 * - `no_code_hash`: you passed no hash. The webhook may not have arrived yet, or no browser has ended the session.
 * - `wrong_code`: the browser has no code, or another session's.
 */
export type ReturnCheck =
  | {
      /** Whether this browser belongs to the session. */
      isBound: true
      /** There is none. */
      reason: null
    }
  | {
      /** Whether this browser belongs to the session. */
      isBound: false
      /** What is wrong. */
      reason: 'other_browser' | 'no_code_hash' | 'wrong_code'
    }

/** A random value for the cookie and for the parameter `state` of the redirect URL: one for each session. */
export function newState(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

/** Checks that a user comes back in the browser that has finished the session. Call this before you let anybody in. */
export async function checkReturn({ url, state, sessionId, codeHash }: ReturnFacts): Promise<ReturnCheck> {
  const { searchParams } = new URL(url, 'https://unused.example')
  const isOwn = (known: string | undefined, name: string) => isEqual(known, searchParams.get(name))
  const isSameBrowser = (await isOwn(state, 'state')) && (await isOwn(sessionId, 'sessionId'))
  if (!isSameBrowser) return { isBound: false, reason: 'other_browser' }
  if (!codeHash) return { isBound: false, reason: 'no_code_hash' }
  const isBound = await codeMatches(searchParams.get('code'), codeHash)
  return isBound ? { isBound, reason: null } : { isBound, reason: 'wrong_code' }
}

/** Whether a code is the one that the session has ended with. For popups and frames, which get the code by message. */
export async function codeMatches(
  code: string | null | undefined,
  codeHash: string | null | undefined,
): Promise<boolean> {
  if (!code || !codeHash) return false
  return isEqual(codeHash.toLowerCase(), toHex(await sha256(code)))
}

/** Compares hashes: how long it takes tells nothing about the values. */
async function isEqual(known: string | null | undefined, given: string | null): Promise<boolean> {
  if (!known || !given) return false
  const [left, right] = [await sha256(known), await sha256(given)]
  return left.reduce((difference, byte, at) => difference | (byte ^ (right[at] ?? 0)), 0) === 0
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
