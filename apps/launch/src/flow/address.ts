/** What the launch URL says. */
export interface Address {
  sessionId: string | null
  /** One-time code of a handoff, from the fragment: no server sees it. */
  handoffCode: string | null
  /** The address without the code, for the address bar. */
  clean: string
}

const SESSION_ID_CHARS = 36

export function readAddress(href: string): Address {
  const url = new URL(href)
  const sessionId = url.searchParams.get('sessionId')
  const handoffCode = new URLSearchParams(url.hash.slice(1)).get('h')
  url.hash = ''
  return {
    sessionId: sessionId?.length === SESSION_ID_CHARS ? sessionId : null,
    handoffCode: handoffCode === '' ? null : handoffCode,
    clean: url.href,
  }
}
