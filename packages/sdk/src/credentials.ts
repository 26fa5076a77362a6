import type { AccessToken } from '@ostiary/contract'
import { nowSeconds } from './clock.ts'
import { type Call, type ClientOptions, createSend, OstiaryError, type Send } from './http.ts'

/** Replace a token this early: the service would refuse one that expires while its call is on the way. */
const EARLY_SECONDS = 30

interface Held {
  token: string
  endsAt: number
}

/**
 * Adds an access token to each call. One token serves all calls until shortly before it expires. If the service refuses it,
 * it is replaced once. Without client credentials, calls are sent unchanged.
 */
export function withClientCredentials(send: Send, options: ClientOptions): Send {
  const { apiKey: _, clientId, clientSecret, ...rest } = options
  if (clientId === undefined && clientSecret === undefined) return send
  if (!clientId || !clientSecret) {
    throw new OstiaryError(0, {
      message: 'Client credentials are a clientId and a clientSecret: one of them is missing',
    })
  }
  // The token endpoint identifies the client by its secret. Do not send it the API key.
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

  /** Concurrent calls share one token request. A failed request is not kept. */
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
