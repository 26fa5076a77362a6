export type { AgeResult, VerificationWebhook, WebhookKeySet, WebhookPublicKey } from '@ostiary/contract'
export { OstiaryError } from '../error.ts'
export {
  createWebhookVerifier,
  fetchedWebhookKeys,
  type WebhookKeyOptions,
  type WebhookKeySource,
  type WebhookVerifierOptions,
} from '../webhook-keys.ts'
export type { ReceivedEvent, WebhookEventName } from './event.ts'
export {
  expressWebhook,
  type FastifyOptions,
  fastifyWebhook,
  type HandlerOptions,
  honoWebhook,
  webhookHandler,
} from './handlers.ts'
export type { ReceivedHeaders, ReceivedMessage } from './message.ts'
export { WEBHOOK_REASONS, WebhookError, type WebhookReason } from './reasons.ts'
export { type ReceiveOptions, receiveWebhook } from './receive.ts'
export { type ReceivedWebhook, verifyWebhook } from './verify.ts'
