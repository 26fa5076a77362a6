import type { Static, TSchema } from 'typebox'
import type { AreaLetter } from './areas.ts'
import type { ErrorCode } from './errors.ts'
import type { NodeErrorCode } from './node-errors.ts'

/** Every error code of the contract, whatever the shape of its reply. */
export type AnyErrorCode = ErrorCode | NodeErrorCode

/** `none`: no key is needed; the descriptor and the health check still refuse a wrong one. `optional`: a key is checked when sent, and needed where the operator closed the area. */
export type Auth = 'none' | 'optional' | 'required'

export interface SuccessReply {
  description: string
  schema: TSchema | null
  headers?: Record<string, string>
}

/** Groups of the reference beside the areas: what is no step of an area's own, or is called by no integrator. */
export type OperationGroup = 'webhooks' | 'test' | 'device'

/** One operation of the HTTP interface. Server, SDK, OpenAPI document and docs all read this object. */
export interface Operation {
  operationId: string
  area: AreaLetter
  /** Where it stands in the reference; in the group of its area when absent. */
  group?: OperationGroup
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Fastify spelling: `/strings/:id`. */
  path: string
  summary: string
  description: string
  auth: Auth
  /** Of several, any one is enough. */
  scope?: Scope | readonly Scope[]
  params?: TSchema
  query?: TSchema
  body?: TSchema
  /** Media types of the request body; JSON when absent. */
  bodyTypes?: readonly string[]
  /** Takes the header `Idempotency-Key`. */
  idempotent?: boolean
  success: Readonly<Record<number, SuccessReply>>
  errors: readonly ErrorCode[]
  /** Area E has errors of its own; its `errors` are empty. */
  nodeErrors?: readonly NodeErrorCode[]
  /** The token endpoint has errors in the shape of RFC 6749: what each status means. Its `errors` are empty. */
  oauthErrors?: Readonly<Record<number, string>>
  /** How often it may be called, where that is less than a caller expects. In the document, and in `details` of a 429. */
  rateNote?: string
  /** Takes client credentials beside the key; a tenant may demand them. */
  takesClientCredentials?: boolean
  /** Request headers worth naming, besides the key. */
  headers?: Readonly<Record<string, { description: string; schema: Readonly<Record<string, unknown>> }>>
}

export type Scope =
  | 'strings:rw'
  | 'sanctions:run'
  | 'age:write'
  | 'age:read'
  | 'verify:write'
  | 'verify:read'
  | 'verify:lockouts'
  | 'node:*'
  | 'admin:*'

export const SCOPES: readonly Scope[] = [
  'strings:rw',
  'sanctions:run',
  'age:write',
  'age:read',
  'verify:write',
  'verify:read',
  'verify:lockouts',
  'node:*',
  'admin:*',
]

/** The static type of one part of an operation, or undefined where the operation does not have that part. */
export type Part<O extends Operation, K extends 'params' | 'query' | 'body'> = O[K] extends TSchema
  ? Static<O[K]>
  : undefined

/** Keeps the literal types of an operation while checking that it is one. */
export function operation<const O extends Operation>(definition: O): O {
  return definition
}
