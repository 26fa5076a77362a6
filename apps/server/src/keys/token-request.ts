import { CLIENT_ASSERTION_TYPE, OAUTH_LIMITS, requestToken } from '@ostiary/contract'
import { AppError, invalid } from '../platform/errors.ts'
import type { PresentedCredentials } from './client-credentials.ts'

/** How a client authenticates at the token endpoint. `none`: it does not, or not in a usable way. */
export type TokenCredentials =
  | { kind: 'none' }
  | { kind: 'secret'; clientId: string; secret: string }
  | { kind: 'assertion'; assertion: string; clientId: string | undefined }

const FIELDS = Object.keys(requestToken.body.properties)
const FIELD_CHARS_MAX = 200

/**
 * Parses a token request: the form, and `Authorization`. Fields that OAuth does not define are ignored, as RFC 6749 requires.
 * A duplicate field, or two ways of authentication at once, is refused.
 */
export function readTokenRequest(form: URLSearchParams, inHeader: PresentedCredentials): TokenCredentials {
  const fields = readFields(form)
  const grant = fields.get('grant_type')
  if (grant === undefined) throw malformed('grant_type is missing')
  if (grant !== 'client_credentials') throw invalid('/grant_type', 'must be client_credentials')
  if (fields.has('scope')) throw invalid('/scope', 'must be left out: tokens are good for all that the API key may do')
  return credentialsOf(fields, inHeader)
}

function credentialsOf(fields: ReadonlyMap<string, string>, inHeader: PresentedCredentials): TokenCredentials {
  const clientId = fields.get('client_id')
  const secret = fields.get('client_secret')
  const assertion = fields.get('client_assertion')
  const type = fields.get('client_assertion_type')
  const ways = [inHeader.kind !== 'none', secret !== undefined, assertion !== undefined || type !== undefined]
  if (ways.filter(Boolean).length > 1) throw malformed('only one way of client authentication may be used')
  if (inHeader.kind === 'secret') return clientId === undefined || clientId === inHeader.clientId ? inHeader : NONE
  if (clientId !== undefined && secret !== undefined) return { kind: 'secret', clientId, secret }
  if (assertion !== undefined && type === CLIENT_ASSERTION_TYPE) return { kind: 'assertion', assertion, clientId }
  return NONE
}

/** A field without a value counts as left out (RFC 6749, section 3.2). */
function readFields(form: URLSearchParams): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const name of FIELDS) {
    const [value = '', ...more] = form.getAll(name)
    if (more.length > 0) throw malformed(`${name} is there twice`)
    const most = name === 'client_assertion' ? OAUTH_LIMITS.assertionBytes : FIELD_CHARS_MAX
    if (value.length > most) throw malformed(`${name} is too long`)
    if (value !== '') fields.set(name, value)
  }
  return fields
}

const NONE = { kind: 'none' } as const

function malformed(message: string): AppError {
  return new AppError('invalid_request', 'BAD_REQUEST', message)
}
