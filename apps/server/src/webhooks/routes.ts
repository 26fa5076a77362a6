import { getWebhookDelivery, listWebhookDeliveries, replayWebhookDelivery, replayWebhooks } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import { route } from '../platform/route.ts'
import type { WebhookService } from './service.ts'

interface WebhookDeps {
  webhooks: WebhookService
  guard: Guard
}

export async function webhookRoutes(app: FastifyInstance, { webhooks, guard }: WebhookDeps): Promise<void> {
  route(app, listWebhookDeliveries, {
    guard: guard.before(listWebhookDeliveries, 'webhooks'),
    handler: (request) => webhooks.list(callerOf(request), request.query),
  })
  route(app, getWebhookDelivery, {
    guard: guard.before(getWebhookDelivery, 'webhooks'),
    handler: (request) => webhooks.get(callerOf(request), request.params.id),
  })
  route(app, replayWebhookDelivery, {
    guard: guard.before(replayWebhookDelivery, 'webhooks'),
    handler: (request) => webhooks.replay(callerOf(request), request.params.id),
  })
  route(app, replayWebhooks, {
    guard: guard.before(replayWebhooks, 'webhooks'),
    handler: (request) => webhooks.replaySince(callerOf(request), request.body),
  })
}
