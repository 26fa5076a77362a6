import { createAgeClient } from './age.ts'
import { withClientCredentials } from './credentials.ts'
import { createWebhooksClient } from './deliveries.ts'
import { createEventsClient } from './events.ts'
import { type ClientOptions, createSend } from './http.ts'
import { createNodeClient } from './node.ts'
import { createSanctionsClient } from './sanctions.ts'
import { createTestClient } from './sandbox.ts'
import { createServiceClient } from './service.ts'
import { createStringsClient } from './strings.ts'
import { createVerificationClient } from './verification.ts'

export type {
  AgeResult,
  AgeState,
  AgeStatus,
  ConfigWarningCode,
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
  LanguageList,
  ListedMatch,
  LockedPerson,
  MatchedRecord,
  ModelVersion,
  PersonLockout,
  ReplayedWebhooks,
  RowResult,
  RunHit,
  RunRecord,
  ScreenReply,
  SessionOutcome,
  SessionPage,
  SessionSummary,
  SetOutcomeBody,
  StreamEvent,
  StringPage,
  StringRecord,
  VerificationPage,
  VerificationState,
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
export {
  type BegunBinding,
  type BindingOptions,
  type BrowserBinding,
  type CameBack,
  createBrowserBinding,
} from './binding.ts'
export type { ListDeliveriesOptions } from './deliveries.ts'
export { OstiaryError, type OstiaryErrorCode, type SdkErrorCode } from './error.ts'
export type { ListEventsOptions, StreamOptions } from './events.ts'
export { type AgeVerdict, isOldEnough } from './is-old-enough.ts'
export type { Candidate, Enrolled, EnrollOptions, PredictOptions } from './node.ts'
export type { CallOptions, ClientKey, ClientOptions, Logger, RetryEvent } from './options.ts'
export { checkReturn, codeMatches, newState, type ReturnCheck, type ReturnFacts } from './return.ts'
export type { CreateExceptionOptions, ListExceptionsOptions, MatchOptions, ScreenOptions } from './sanctions.ts'
export type { FailDeliveryOptions } from './sandbox.ts'
export type { FileRow, ScreeningChange, ScreeningChanges } from './screening/changes.ts'
export type { FileScreening, SilencedRow } from './screening/merge.ts'
export type { ChangedHit, CompareRunsOptions, ListRunsOptions, RunComparison } from './screening/runs.ts'
export type { ScreenAllOptions, ScreenProgress } from './screening/screen-all.ts'
export type { ByteStream, ScreeningFile } from './screening/source.ts'
export type { CreateStringOptions, ListStringsOptions } from './strings.ts'
export type { CreateVerificationOptions, ListVerificationsOptions } from './verification.ts'
export type { ConfigWarning, Created } from './warnings.ts'
export {
  createWebhookVerifier,
  fetchedWebhookKeys,
  type WebhookKeyOptions,
  type WebhookKeySource,
  type WebhookVerifierOptions,
} from './webhook-keys.ts'
export type { ReceivedEvent, WebhookEventName } from './webhooks/event.ts'
export type { ReceivedHeaders, ReceivedMessage } from './webhooks/message.ts'
export { WebhookError, type WebhookReason } from './webhooks/reasons.ts'
export { type ReceiveOptions, receiveWebhook } from './webhooks/receive.ts'
export { type ReceivedWebhook, verifyWebhook } from './webhooks/verify.ts'

/** A client for one installation. For servers: an API key must not be in a browser. */
export function createClient(options: ClientOptions): OstiaryClient {
  const send = createSend(options)
  const sendAsClient = withClientCredentials(send, options)
  return {
    ...createServiceClient(send),
    strings: createStringsClient(send),
    sanctions: createSanctionsClient(send),
    age: createAgeClient(send),
    verification: createVerificationClient(sendAsClient),
    webhooks: createWebhooksClient(send),
    events: createEventsClient(sendAsClient),
    node: createNodeClient(send, options.apiKey),
    test: createTestClient(send),
  }
}

/** A client for one installation. */
export interface OstiaryClient extends ReturnType<typeof createServiceClient> {
  /** Text records (area A). */
  strings: ReturnType<typeof createStringsClient>
  /** Screening of names against sanctions lists (area B). */
  sanctions: ReturnType<typeof createSanctionsClient>
  /** Age checks (area C): create a session, read its result, cancel or erase it. */
  age: ReturnType<typeof createAgeClient>
  /** Enrolment and sign-in by face and passkey (area D). */
  verification: ReturnType<typeof createVerificationClient>
  /** What became of your webhooks, and how to send them again. */
  webhooks: ReturnType<typeof createWebhooksClient>
  /** The stream of events, for development. */
  events: ReturnType<typeof createEventsClient>
  /** Face vectors that your own software made (area E), encrypted on the way. */
  node: ReturnType<typeof createNodeClient>
  /** Test keys only: end sessions, let time pass, let deliveries fail. */
  test: ReturnType<typeof createTestClient>
}
