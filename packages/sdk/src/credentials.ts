import type { AccessToken } from '@ostiary/contract'
import { CLIENT_ASSERTION_TYPE, createAssertions } from './client-assertion.ts'
import { nowSeconds } from './clock.ts'
import { invalidOption, OstiaryError } from './error.ts'
import { type Call, type ClientOptions, createSend, type Send } from './http.ts'
import { checkBaseUrl } from './options.ts'

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
  const { apiKey: _, ...rest } = options
  const proof = proofOf(options)
  if (!proof) return send
  // The token endpoint identifies the client by its credentials. Do not send it the API key.
  const plainSend = createSend(rest)
  let held: Promise<Held> | undefined

  async function request(): Promise<Held> {
    const askedAt = nowSeconds()
    const { access_token, expires_in } = await plainSend<AccessToken>({
      operation: 'requestToken',
      method: 'POST',
      path: '/oauth/token',
      ...proof,
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

const GRANT = { grant_type: 'client_credentials' }

/** What a call of the token endpoint carries, or undefined where there are no credentials. */
function proofOf(options: ClientOptions): Pick<Call, 'body' | 'makeBody' | 'headers'> | undefined {
  const { baseUrl, clientId, clientSecret, clientKey, clientAudience } = options
  if (clientId === undefined && clientSecret === undefined && clientKey === undefined) return undefined
  if (!clientId || !(clientSecret || clientKey)) {
    throw invalidOption('Client credentials are a clientId and a clientSecret or clientKey: one of them is missing')
  }
  if (clientSecret && clientKey) throw invalidOption('Give a clientSecret or a clientKey, not both')
  if (clientSecret) {
    const basic = btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)
    return { body: new URLSearchParams(GRANT), headers: { authorization: `Basic ${basic}` } }
  }
  if (!clientKey) return undefined
  const audience = `${checkBaseUrl(clientAudience ?? baseUrl)}/oauth/token`
  const newAssertion = createAssertions({ clientId, clientKey, audience })
  const makeBody = async () =>
    new URLSearchParams({
      ...GRANT,
      client_assertion_type: CLIENT_ASSERTION_TYPE,
      client_assertion: await newAssertion(),
    })
  return { makeBody }
}
