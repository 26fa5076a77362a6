import { invalidOption } from './error.ts'
import { checkReturn, newState, type ReturnCheck } from './return.ts'

export interface BindingOptions {
  /** Where the browser comes back. The state is added to its query. */
  redirectURL: string
  /** How long a browser may take. Default 30 minutes: more than a session's usual 15. */
  maxAgeSeconds?: number
}

/** What belongs to a session that is about to be created. */
export interface BegunBinding {
  /** Store it beside the session’s id. */
  state: string
  /** The session’s `redirectURL`. */
  redirectURL: string
  /** The header `Set-Cookie` of your answer. */
  setCookie: string
}

export interface CameBack {
  /** The URL that the browser has called, or its query. */
  url: string | URL
  /** The header `Cookie` of that call. */
  cookie: string | null | undefined
  /** The session that you had created for this state. */
  sessionId: string | undefined
  /** Of the webhook whose signature you have checked, or of the result that you have read. */
  codeHash: string | null | undefined
}

/**
 * Binds a session to the browser that waits at your site, so that nobody is signed in as a person to whom they sent their link: a secret
 * state in a cookie and in the redirect, and the code that only the finishing browser gets.
 */
export function createBrowserBinding({ redirectURL, maxAgeSeconds = 1_800 }: BindingOptions) {
  if (!URL.canParse(redirectURL)) throw invalidOption('redirectURL must be a whole URL')
  const isSecure = redirectURL.startsWith('https://')
  // `__Host-`: no other host of your domain can set it. Browsers take it by https alone.
  const name = isSecure ? '__Host-ostiary-state' : 'ostiary-state'
  const cookie = (value: string, seconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

  /** The state in the header `Cookie`: look up the session by it. A cookie that is there twice counts as absent. */
  function stateOf(header: string | null | undefined): string | undefined {
    const values = (header ?? '').split(';').flatMap((pair) => {
      const [key, value = ''] = pair.trim().split('=', 2)
      return key === name && value !== '' ? [value] : []
    })
    return values.length === 1 ? values[0] : undefined
  }

  return {
    /** Before you create the session: its `redirectURL`, the header `Set-Cookie`, and the state to store beside the session's id. */
    begin(): BegunBinding {
      const state = newState()
      const url = new URL(redirectURL)
      url.searchParams.set('state', state)
      return { state, redirectURL: url.href, setCookie: cookie(state, maxAgeSeconds) }
    },
    /** The state in the header `Cookie`: look up the session by it. A cookie that is there twice counts as absent. */
    stateOf,
    /** When the browser comes back. Forget the state and the session afterwards (not after `other_browser`): what was used once is not good again. */
    check: ({ url, cookie: header, sessionId, codeHash }: CameBack): Promise<ReturnCheck> =>
      checkReturn({ url, state: stateOf(header), sessionId, codeHash }),
    /** `Set-Cookie` that deletes the state. */
    clearCookie: cookie('', 0),
  }
}
export type BrowserBinding = ReturnType<typeof createBrowserBinding>
