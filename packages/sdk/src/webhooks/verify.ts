import type {
  DeliveryState,
  ReplayedWebhooks,
  ReplayWebhooksBody,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryPage,
} from '@ostiary/contract'
import { verifyWebhook as verify } from '@ostiary/crypto'
import { nowSeconds } from './clock.ts'
import type { Send } from './http.ts'

export interface ListDeliveriesOptions {
  limit?: number
  cursor?: string
  state?: DeliveryState
  sessionId?: string
  /** Only deliveries created at or after this time. */
  since?: Date | string
}

export type ReceivedWebhook = Parameters<typeof verify>[0]

/**
 * Whether a webhook is genuine and fresh: its signature matches and its timestamp is at most 5 minutes from now. `body` is the
 * bytes as received, before any JSON parser.
 */
export function verifyWebhook(received: ReceivedWebhook): Promise<boolean> {
  // Do not spread over defaults: an explicit `nowSeconds: undefined` would switch the check of the time off.
  return verify({ ...received, nowSeconds: received.nowSeconds ?? nowSeconds() })
}

/** Deliveries of areas C and D. */
export function createWebhooksClient(send: Send) {
  const pathOf = (id: string) => `/webhooks/deliveries/${encodeURIComponent(id)}`
  return {
    list: ({ since, ...page }: ListDeliveriesOptions = {}): Promise<WebhookDeliveryPage> =>
      send({ method: 'GET', path: '/webhooks/deliveries', query: { ...page, since: since && textOf(since) } }),
    /** With its attempts. */
    get: (id: string): Promise<WebhookDeliveryDetails> => send({ method: 'GET', path: pathOf(id) }),
    /** Sends it again, in any state. */
    replay: (id: string): Promise<WebhookDelivery> => send({ method: 'POST', path: `${pathOf(id)}/replay` }),
    /** Sends all dead deliveries (or delivered ones, or both) since a given time again. */
    replaySince: (since: Date | string, state?: NonNullable<ReplayWebhooksBody['state']>): Promise<ReplayedWebhooks> =>
      send({
        method: 'POST',
        path: '/webhooks/replay',
        body: { since: textOf(since), ...(state !== undefined && { state }) },
      }),
  }
}

function textOf(moment: Date | string): string {
  return typeof moment === 'string' ? moment : moment.toISOString()
}
