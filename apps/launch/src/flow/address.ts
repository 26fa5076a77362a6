/** The parts of the launch URL. */
export interface Address {
  sessionId: string | null
  /** One-time code of a handoff. It is in the fragment, which browsers do not send to servers. */
  handoffCode: string | null
  /** This tab joined with a code, now or before a reload. It is another device than the tab that showed the code. */
  joined: boolean
  /** The address without the code, for the address bar. */
  clean: string
}

const SESSION_ID_CHARS = 36

/** `history.state` of a tab that joined with a code. */
export const JOINED = 'joined'

export function readAddress(href: string, historyState: unknown = null): Address {
  const url = new URL(href)
  const sessionId = url.searchParams.get('sessionId')
  const handoffCode = new URLSearchParams(url.hash.slice(1)).get('h')
  url.hash = ''
  return {
    sessionId: sessionId?.length === SESSION_ID_CHARS ? sessionId : null,
    handoffCode: handoffCode || null,
    joined: Boolean(handoffCode) || historyState === JOINED,
    clean: url.href,
  }
}
