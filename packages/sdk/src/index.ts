import type { Descriptor, Health } from '@ostiary/contract'
import { createAgeClient } from './age.ts'
import { withClientCredentials } from './credentials.ts'
import { createEventsClient } from './events.ts'
import { type ClientOptions, createSend } from './http.ts'
import { createNodeClient } from './node.ts'
import { createSanctionsClient } from './sanctions.ts'
import { createStringsClient } from './strings.ts'
import { createVerificationClient } from './verification.ts'
import { createWebhooksClient } from './webhooks.ts'

export type {
  AgeResult,
  AgeStatus,
  ConfirmedReturn,
  CreatedSession,
  CreatedVerification,
  CreateExceptionBody,
  CreateSessionBody,
  CreateStringBody,
  CreateVerificationBody,
  Dataset,
  DeliveryState,
  Descriptor,
  ErrorCode,
  ErrorDetail,
  EventPage,
  ExceptionPage,
  ExceptionRecord,
  Feature,
  FlowStatus,
  Health,
  ListedMatch,
  MatchedRecord,
  ModelVersion,
  ReplayedWebhooks,
  RowResult,
  ScreenReply,
  SessionOutcome,
  SessionPage,
  SessionSummary,
  StreamEvent,
  StringPage,
  StringRecord,
  VerificationPage,
  VerificationSummary,
  VerificationType,
  VerificationWebhook,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryPage,
  WebhookKeySet,
  WebhookPublicKey,
} from '@ostiary/contract'
export type { CreateSessionOptions, ListSessionsOptions, ResultOptions, WaitForResultOptions } from './age.ts'
export type { ListEventsOptions, StreamOptions } from './events.ts'
export { type ClientOptions, OstiaryError } from './http.ts'
export type { Candidate, Enrolled, EnrollOptions, PredictOptions } from './node.ts'
export { checkReturn, codeMatches, newState, type ReturnCheck, type ReturnFacts } from './return.ts'
export type { CreateExceptionOptions, ListExceptionsOptions, MatchOptions, ScreenOptions } from './sanctions.ts'
export type { FileScreening, SilencedRow } from './screening/merge.ts'
export type { ScreenAllOptions, ScreenProgress } from './screening/screen-all.ts'
export type { ByteStream, ScreeningFile } from './screening/source.ts'
export type { CreateStringOptions, ListStringsOptions } from './strings.ts'
export type { CreateVerificationOptions, ListVerificationsOptions } from './verification.ts'
export {
  createWebhookVerifier,
  fetchedWebhookKeys,
  type ReceivedHeaders,
  type WebhookKeyOptions,
  type WebhookKeySource,
  type WebhookVerifierOptions,
} from './webhook-keys.ts'
export { type ListDeliveriesOptions, type ReceivedWebhook, verifyWebhook } from './webhooks.ts'

/** A client for one installation. For servers: an API key must not be in a browser. */
export function createClient(options: ClientOptions) {
  const send = createSend(options)
  return {
    describe: (): Promise<Descriptor> => send({ method: 'GET', path: '/' }),
    /** Resolves for a degraded service too: look at `status`. */
    health: (): Promise<Health> => send({ method: 'GET', path: '/health', alsoOk: [503] }),
    strings: createStringsClient(send),
    sanctions: createSanctionsClient(send),
    age: createAgeClient(send),
    verification: createVerificationClient(withClientCredentials(send, options)),
    webhooks: createWebhooksClient(send),
    events: createEventsClient(send),
    node: createNodeClient(send, options.apiKey),
  }
}
export type OstiaryClient = ReturnType<typeof createClient>
