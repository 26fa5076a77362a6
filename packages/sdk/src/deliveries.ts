import type {
  DeliveryState,
  ReplayedWebhooks,
  ReplayWebhooksBody,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryPage,
} from '@ostiary/contract'
import type { CallOptions, Send } from './http.ts'
import { allPages, textOf } from './session-list.ts'

export interface ListDeliveriesOptions extends CallOptions {
  /** How many on a page. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
  /** Only deliveries in this state. */
  state?: DeliveryState
  /** Only those of this session. */
  sessionId?: string
  /** Only deliveries created at or after this time. */
  since?: Date | string
}

/** Deliveries of areas C and D. */
export function createWebhooksClient(send: Send) {
  const pathOf = (id: string) => `/webhooks/deliveries/${encodeURIComponent(id)}`

  const list = ({ since, signal, timeoutMs, ...page }: ListDeliveriesOptions = {}): Promise<WebhookDeliveryPage> =>
    send({
      operation: 'listWebhookDeliveries',
      method: 'GET',
      path: '/webhooks/deliveries',
      query: { ...page, since: textOf(since) },
      signal,
      timeoutMs,
    })

  return {
    /** One page of deliveries, newest first. */
    list,
    /** All deliveries, page by page, newest first. */
    all: (options: Omit<ListDeliveriesOptions, 'cursor'> = {}): AsyncGenerator<WebhookDelivery> =>
      allPages((page) => list({ ...options, ...page })),
    /** With its attempts. */
    get: (id: string, options: CallOptions = {}): Promise<WebhookDeliveryDetails> =>
      send({ ...options, operation: 'getWebhookDelivery', method: 'GET', path: pathOf(id) }),
    /** Sends it again, in any state. */
    replay: (id: string, options: CallOptions = {}): Promise<WebhookDelivery> =>
      send({ ...options, operation: 'replayWebhookDelivery', method: 'POST', path: `${pathOf(id)}/replay` }),
    /**
     * Sends all dead deliveries (or delivered ones, or both) since a given time again. One call of the service looks at 10,000 of them: this
     * makes as many calls as are needed, and `count` is the sum. After an error, repeat it from the time you gave: a delivery that is
     * already on its way is not sent twice.
     */
    async replaySince(
      since: Date | string,
      state?: NonNullable<ReplayWebhooksBody['state']>,
      options: CallOptions = {},
    ): Promise<ReplayedWebhooks> {
      let count = 0
      let from: string | null = textOf(since) ?? ''
      while (from !== null) {
        const reply: ReplayedWebhooks = await send({
          ...options,
          operation: 'replayWebhooks',
          method: 'POST',
          path: '/webhooks/replay',
          body: { since: from, ...(state !== undefined && { state }) },
        })
        count += reply.count
        from = reply.continueFrom
      }
      return { count, continueFrom: null }
    },
  }
}
