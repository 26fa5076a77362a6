export type { WebhookMessage } from './message.ts'
export { createWebhooksRoom, type WebhooksRoom } from './room.ts'
export type { WebhookService } from './service.ts'
