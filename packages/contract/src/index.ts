import { AGE_OPERATIONS } from './age.ts'
import { EVENT_OPERATIONS } from './events.ts'
import { EVENT_EXAMPLES, EXAMPLES } from './examples/index.ts'
import { LOCALE_OPERATIONS } from './languages.ts'
import { LAUNCH_OPERATIONS } from './launch.ts'
import { DOCUMENT_OPERATIONS } from './launch-documents.ts'
import { TOKEN_OPERATIONS } from './launch-token.ts'
import { NODE_OPERATIONS } from './node.ts'
import { OAUTH_OPERATIONS } from './oauth.ts'
import type { OpenApiParts } from './openapi.ts'
import type { Operation } from './operation.ts'
import { SANCTIONS_OPERATIONS } from './sanctions.ts'
import { EXCEPTION_OPERATIONS } from './sanctions-exceptions.ts'
import { RUN_OPERATIONS } from './sanctions-runs.ts'
import { SANDBOX_OPERATIONS } from './sandbox.ts'
import { PROBE_OPERATIONS, SERVICE_OPERATIONS } from './service.ts'
import { STRING_OPERATIONS } from './strings.ts'
import { VERIFICATION_OPERATIONS } from './verification.ts'
import { WEBHOOK_EVENTS } from './webhook-events.ts'
import { WEBHOOK_OPERATIONS } from './webhooks.ts'

export * from './age.ts'
export * from './age-request.ts'
export * from './areas.ts'
export * from './brand.ts'
export * from './capture-conditions.ts'
export * from './config-warnings.ts'
export * from './consent.ts'
export * from './document-record.ts'
export * from './documents.ts'
export * from './errors.ts'
export * from './events.ts'
export * from './examples/index.ts'
export * from './frames.ts'
export * from './handoff.ts'
export * from './ignored-fields.ts'
export * from './indicators.ts'
export * from './key-holder.ts'
export * from './keys.ts'
export * from './languages.ts'
export * from './launch.ts'
export * from './launch-documents.ts'
export * from './launch-payload.ts'
export * from './launch-session.ts'
export * from './launch-steps.ts'
export * from './launch-token.ts'
export * from './limits.ts'
export * from './links.ts'
export * from './locale-tags.ts'
export * from './locales.ts'
export * from './match-words.ts'
export * from './models.ts'
export * from './movements.ts'
export * from './node.ts'
export * from './node-errors.ts'
export * from './oauth.ts'
export * from './openapi.ts'
export * from './operation.ts'
export * from './paths.ts'
export * from './processor-budgets.ts'
export * from './returns.ts'
export * from './risk.ts'
export * from './risk-flags.ts'
export * from './run-limits.ts'
export * from './sanctions.ts'
export * from './sanctions-exceptions.ts'
export * from './sanctions-runs.ts'
export * from './sandbox.ts'
export * from './service.ts'
export * from './session-codes.ts'
export * from './session-list.ts'
export * from './settings.ts'
export * from './states.ts'
export * from './strings.ts'
export * from './verification.ts'
export * from './verification-request.ts'
export * from './version.ts'
export * from './webhook-events.ts'
export * from './webhook-wire.ts'
export * from './webhooks.ts'

/** Every operation of the HTTP interface, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE_OPERATIONS,
  ...STRING_OPERATIONS,
  ...SANCTIONS_OPERATIONS,
  ...EXCEPTION_OPERATIONS,
  ...RUN_OPERATIONS,
  ...AGE_OPERATIONS,
  ...LAUNCH_OPERATIONS,
  ...DOCUMENT_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...VERIFICATION_OPERATIONS,
  ...OAUTH_OPERATIONS,
  ...LOCALE_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...SANDBOX_OPERATIONS,
  ...NODE_OPERATIONS,
  ...PROBE_OPERATIONS,
]

/** What the document of this service has beside its operations. */
export const OPENAPI_PARTS = {
  events: WEBHOOK_EVENTS,
  examples: EXAMPLES,
  eventExamples: EVENT_EXAMPLES,
} satisfies OpenApiParts
