import {
  getWebhookDelivery,
  getWebhookKeys,
  listWebhookDeliveries,
  replayWebhookDelivery,
  replayWebhooks,
  WEBHOOK_KEY_SET_SECONDS,
} from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import { AppError } from '../platform/errors.ts'
import { route } from '../platform/route.ts'
import type { WebhookService } from './service.ts'
import type { WebhookKeys } from './webhook-keys.ts'

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

/** Public: the receivers of webhooks read it, without a key. */
export async function webhookKeyRoutes(
  app: FastifyInstance,
  { webhookKeys, guard }: { webhookKeys: WebhookKeys; guard: Guard },
): Promise<void> {
  route(app, getWebhookKeys, {
    guard: guard.before(getWebhookKeys, 'webhook-keys'),
    async handler({ params, query }, reply) {
      const livemode = query.mode !== 'test'
      const keySet = await webhookKeys.findKeySet({ tenantId: params.tenant, livemode })
      if (!keySet) throw new AppError('not_found', 'NOT_FOUND', 'There is no such key set')
      return reply.header('cache-control', `public, max-age=${WEBHOOK_KEY_SET_SECONDS}`).send(keySet)
    },
  })
}
