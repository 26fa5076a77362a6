import type { AccessToken } from '@ostiary/contract'
import { nowSeconds } from './clock.ts'
import { type Call, type ClientOptions, createSend, OstiaryError, type Send } from './http.ts'

/** A token that ends while its call is under way would be refused. */
const EARLY_SECONDS = 30

interface Held {
  token: string
  endsAt: number
}

/**
 * Sends calls with an access token beside the API key. One token serves all calls until shortly before its end; one that the
 * service refuses is replaced once. Without client credentials calls are sent as they are.
 */
export function withClientCredentials(send: Send, options: ClientOptions): Send {
  const { apiKey: _, clientId, clientSecret, ...rest } = options
  if (clientId === undefined && clientSecret === undefined) return send
  if (!clientId || !clientSecret) {
    throw new OstiaryError(0, {
      message: 'Client credentials are a clientId and a clientSecret: one of them is missing',
    })
  }
  // The token endpoint knows the client by its secret: the key has no business there.
  const plainSend = createSend(rest)
  const basic = `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`
  let held: Promise<Held> | undefined

  async function request(): Promise<Held> {
    const askedAt = nowSeconds()
    const { access_token, expires_in } = await plainSend<AccessToken>({
      method: 'POST',
      path: '/oauth/token',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { authorization: basic },
    })
    return { token: access_token, endsAt: askedAt + expires_in - EARLY_SECONDS }
  }

  /** Calls at the same time share one request; one that failed is not kept. */
  async function current(): Promise<Held> {
    held ??= request()
    const asked = held
    const found = await asked.catch((error: unknown) => {
      if (held === asked) held = undefined
      throw error
    })
    if (nowSeconds() < found.endsAt) return found
    if (held === asked) held = undefined
    return current()
  }

  async function authorised<T>(call: Call): Promise<{ answer: T } | { refused: OstiaryError }> {
    const { token } = await current()
    try {
      return { answer: await send<T>({ ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } }) }
    } catch (error) {
      if (error instanceof OstiaryError && error.code === 'INVALID_CLIENT_CREDENTIALS') return { refused: error }
      throw error
    }
  }

  return async <T>(call: Call): Promise<T> => {
    const first = await authorised<T>(call)
    if ('answer' in first) return first.answer
    held = undefined
    const second = await authorised<T>(call)
    if ('answer' in second) return second.answer
    throw second.refused
  }
}
