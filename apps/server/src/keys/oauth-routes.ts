import { type OAuthError, requestToken } from '@ostiary/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'
import { refuseEncodings } from '../platform/http.ts'
import type { ErrorRenderer } from '../platform/http-errors.ts'
import { decodeText } from '../platform/json-body.ts'
import { route } from '../platform/route.ts'
import type { AccessTokens } from './access-token.ts'
import type { ClientFacts } from './client.ts'
import { readCredentials } from './client-credentials.ts'
import type { ClientService } from './clients.ts'
import type { Guard } from './guard.ts'
import { readTokenRequest, type TokenCredentials } from './token-request.ts'

interface Deps {
  clients: ClientService
  tokens: AccessTokens
  guard: Guard
}

const BODY_BYTES_MAX = 16 * 1024
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The token endpoint of OAuth 2.0, for the client credentials grant only. Its errors have the format of RFC 6749. */
export async function oauthRoutes(app: FastifyInstance, { clients, tokens, guard }: Deps): Promise<void> {
  takeFormsOnly(app)
  route(app, requestToken, {
    guard: guard.before(requestToken, 'token'),
    checkBody: false,
    bodyLimitBytes: BODY_BYTES_MAX,
    async handler({ headers, raw, body, ip }) {
      const inHeader = readCredentials({ authorization: headers.authorization }, raw.rawHeaders)
      const form: unknown = body
      const shown = readTokenRequest(form instanceof URLSearchParams ? form : new URLSearchParams(), inHeader)
      return tokens.issue(await clientOf(clients, shown, ip))
    },
  })
}

async function clientOf(clients: ClientService, shown: TokenCredentials, address: string): Promise<ClientFacts> {
  if (shown.kind === 'none') throw await clients.refusal(address)
  if (shown.kind === 'secret') return clients.withSecret(shown.clientId, shown.secret, address)
  const client = await clients.withAssertion(shown.assertion, address)
  if (shown.clientId !== undefined && shown.clientId !== client.clientId) throw await clients.refusal(address)
  return client
}

function takeFormsOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    refuseEncodings(request)
    return new URLSearchParams(decodeText(bytes))
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => {
    throw new AppError('unsupported_type', 'UNSUPPORTED_MEDIA_TYPE', `The body must be ${FORM_TYPE}`)
  })
}

/** `{ error, error_description }`, RFC 6749 section 5.2. */
export const renderOAuthError: ErrorRenderer = (error, _request, reply) => {
  if (error.status === 401) reply.header('www-authenticate', 'Basic realm="ostiary"')
  const [detail] = error.extra.details ?? []
  const body: OAuthError = {
    error: (detail && NAMES_BY_FIELD[detail.pointer]) ?? NAMES_BY_FAULT[error.fault] ?? 'invalid_request',
    error_description: detail ? `${detail.pointer.slice(1)} ${detail.message}` : error.message,
  }
  return { contentType: 'application/json; charset=utf-8', body }
}

/** Two fields have an error of their own. */
const NAMES_BY_FIELD: Readonly<Record<string, OAuthError['error']>> = {
  '/grant_type': 'unsupported_grant_type',
  '/scope': 'invalid_scope',
}
const NAMES_BY_FAULT: Readonly<Partial<Record<AppError['fault'], OAuthError['error']>>> = {
  unauthenticated: 'invalid_client',
  forbidden: 'unauthorized_client',
  rate_limited: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
}
