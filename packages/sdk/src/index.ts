import type { Descriptor, Health } from '@ostiary/contract'
import { type ClientOptions, createSend } from './http.ts'
import { createNodeClient } from './node.ts'
import { createSanctionsClient } from './sanctions.ts'
import { createStringsClient } from './strings.ts'

export type {
  CreateExceptionBody,
  CreateStringBody,
  Dataset,
  Descriptor,
  ErrorCode,
  ErrorDetail,
  ExceptionPage,
  ExceptionRecord,
  Feature,
  Health,
  ListedMatch,
  MatchedRecord,
  ModelVersion,
  RowResult,
  ScreenReply,
  StringPage,
  StringRecord,
} from '@ostiary/contract'
export { type ClientOptions, OstiaryError } from './http.ts'
export type { Candidate, Enrolled, EnrollOptions, PredictOptions } from './node.ts'
export type { CreateExceptionOptions, ListExceptionsOptions, ScreenOptions } from './sanctions.ts'
export type { CreateStringOptions, ListStringsOptions } from './strings.ts'

/** A client for one installation. For servers: an API key must not be in a browser. */
export function createClient(options: ClientOptions) {
  const send = createSend(options)
  return {
    describe: (): Promise<Descriptor> => send({ method: 'GET', path: '/' }),
    /** Resolves for a degraded service too: look at `status`. */
    health: (): Promise<Health> => send({ method: 'GET', path: '/health', alsoOk: [503] }),
    strings: createStringsClient(send),
    sanctions: createSanctionsClient(send),
    node: createNodeClient(send, options.apiKey),
  }
}
export type OstiaryClient = ReturnType<typeof createClient>
