/** What the reference shows for each operation and event, where the schema has no example of its own or one is not enough. */
import type { WebhookEventName } from '../webhook-events.ts'
import { AGE_EVENT_EXAMPLES, AGE_EXAMPLES } from './age.ts'
import { DEVICE_EXAMPLES } from './device.ts'
import type { NamedExamples, OperationExamples } from './example.ts'
import { NODE_EXAMPLES } from './node.ts'
import { RECORD_EXAMPLES } from './records.ts'
import { VERIFICATION_EVENT_EXAMPLES, VERIFICATION_EXAMPLES } from './verification.ts'

export type { NamedExamples, OperationExamples } from './example.ts'

/** By operationId. */
export const EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...RECORD_EXAMPLES,
  ...AGE_EXAMPLES,
  ...VERIFICATION_EXAMPLES,
  ...DEVICE_EXAMPLES,
  ...NODE_EXAMPLES,
}

/** Bodies of each event. */
export const EVENT_EXAMPLES: Readonly<Record<WebhookEventName, NamedExamples>> = {
  ...AGE_EVENT_EXAMPLES,
  ...VERIFICATION_EVENT_EXAMPLES,
}
