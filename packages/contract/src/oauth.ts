import Type from 'typebox'
import { OAUTH_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'

export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** A client of a tenant, as the CLI shows it. The secret is known once, when it is made. */
export interface ApiClientRecord {
  client_id: string
  client_secret?: string
  tenant_id: string
  livemode: boolean
  name: string
  /** Thumbprints of the public keys that may sign assertions. */
  keys: string[]
  status: 'active' | 'revoked'
  when_created: string
}

export const AccessToken = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
  },
  { title: 'AccessToken' },
)
export type AccessToken = Type.Static<typeof AccessToken>

export const OAuthError = Type.Object(
  {
    error: Type.Enum(
      [
        'invalid_request',
        'invalid_client',
        'unauthorized_client',
        'unsupported_grant_type',
        'invalid_scope',
        'temporarily_unavailable',
        'server_error',
      ],
      { description: 'A code of OAuth 2.0 (RFC 6749)' },
    ),
    error_description: Type.String({ description: 'For people; may change' }),
  },
  { title: 'OAuthError' },
)
export type OAuthError = Type.Static<typeof OAuthError>

export const requestToken = operation({
  operationId: 'requestToken',
  area: 'D',
  method: 'POST',
  path: '/oauth/token',
  summary: 'Get an access token for client credentials',
  description:
    'OAuth 2.0 client credentials grant. The client shows who it is by `Authorization: Basic`, by `client_id` and ' +
    '`client_secret` in the form, or by a signed assertion (`private_key_jwt`). Errors have the shape of RFC 6749: ' +
    '`{"error":"invalid_client","error_description":"…"}`.',
  auth: 'none',
  bodyTypes: ['application/x-www-form-urlencoded'],
  body: Type.Object(
    {
      grant_type: Type.String({ description: '`client_credentials`' }),
      client_id: Type.Optional(Type.String({ maxLength: 200 })),
      client_secret: Type.Optional(Type.String({ maxLength: 200 })),
      client_assertion_type: Type.Optional(Type.String({ maxLength: 200 })),
      client_assertion: Type.Optional(Type.String({ maxLength: OAUTH_LIMITS.assertionBytes })),
      scope: Type.Optional(Type.String({ maxLength: 200 })),
    },
    { title: 'TokenRequest' },
  ),
  success: {
    200: { description: 'A token for ten minutes', schema: AccessToken, headers: { 'Cache-Control': '`no-store`' } },
  },
  errors: [],
  oauthErrors: {
    400: '`invalid_request`, `unsupported_grant_type` or `invalid_scope`: the form is not such a request',
    401: '`invalid_client`: the client is not known, revoked, or has not shown that it is the one',
    413: '`invalid_request`: the body is too large',
    415: '`invalid_request`: the body is not a form',
    429: '`temporarily_unavailable`: too many requests or wrong credentials; `Retry-After` says how long to wait',
    500: '`server_error`',
    503: '`temporarily_unavailable`: the store is out of reach, try again',
  },
})

export const OAUTH_OPERATIONS: readonly Operation[] = [requestToken]
