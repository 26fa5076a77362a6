/** The fixture on a real database, with what it needs. Only tests import this. */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../keys/index.ts'
import { type Clock, DAY_MS } from '../../platform/clock.ts'
import type { Leases } from '../../platform/leases.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createPooledOutbound, type PooledOptions, type PooledOutbound } from '../../platform/outbound/pooled.ts'
import { createHarness, type Harness } from '../../testing/harness.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from '../dispatcher.ts'
import type { WebhookMessage } from '../message.ts'
import { createWebhookMetrics, type WebhookMetrics } from '../metrics.ts'
import { createWebhookService, type WebhookService } from '../service.ts'
import { createReceiver, type Receiver } from './receiver.ts'

export interface Tenant {
  tenantId: string
  keyId: string
  key: string
  caller: Caller
}

export interface Fixture {
  harness: Harness
  webhooks: WebhookService
  metrics: WebhookMetrics
  /** Not started: tests call `tick`. */
  dispatcher: Dispatcher
  newDispatcher(options?: DispatcherOptions & { clock?: Clock; outbound?: PooledOutbound; leases?: Leases }): Dispatcher
  newOutbound(options?: Partial<PooledOptions>): PooledOutbound
  newReceiver(): Promise<Receiver>
  newTenant(livemode?: boolean): Promise<Tenant>
  /** Enqueues one message in a transaction of its own; returns the id of the delivery. */
  enqueue(tenant: Tenant, message: Partial<WebhookMessage> & { url: string | null }): Promise<string>
  close(): Promise<void>
}

/** Long enough for answers on a busy machine. A test of an answer that never comes passes a shorter one. */
const ANSWER_TIMEOUT_MS = 20_000
export const BODY = Buffer.from('{"sessionStatus": "COMPLETED",\n "note":"Grüße 😀"}')

export async function createFixture(): Promise<Fixture> {
  const harness = await createHarness()
  const { platform, keys } = harness.wire
  const { webhookKeys } = harness.wire.webhooks
  const { cells, clock, version } = platform
  const allowNetworks = ['127.0.0.0/8']
  const events = { inboxUrl: 'http://localhost:8080/events/inbox', live: false }
  const webhooks = createWebhookService({ ...platform, allowNetworks, events })
  const metrics = createWebhookMetrics(createMetrics(version, { processMetrics: false }))
  const receivers: Receiver[] = []
  const outbounds: PooledOutbound[] = []
  const newOutbound = (options: Partial<PooledOptions> = {}) => {
    const outbound = createPooledOutbound({ allowNetworks, timeoutMs: ANSWER_TIMEOUT_MS, ...options })
    outbounds.push(outbound)
    return outbound
  }
  const dispatchers: Dispatcher[] = []
  const newDispatcher: Fixture['newDispatcher'] = ({
    clock: own = clock,
    outbound = newOutbound(),
    leases = platform.leases,
    ...options
  } = {}) => {
    const dispatcher = createDispatcher(
      { ...platform, clock: own, keys: keys.service, webhookKeys, outbound, metrics, leases },
      options,
    )
    dispatchers.push(dispatcher)
    return dispatcher
  }

  return {
    harness,
    webhooks,
    metrics,
    dispatcher: newDispatcher(),
    newDispatcher,
    newOutbound,
    async newReceiver() {
      const receiver = await createReceiver()
      receivers.push(receiver)
      return receiver
    },
    async newTenant(livemode = false) {
      const { tenantId, record, key } = await harness.tenantWithKey({ livemode, scopes: ['age:read', 'age:write'] })
      return { tenantId, keyId: record.id, key, caller: { tenantId, livemode, keyId: record.id, rateFactor: 1 } }
    },
    async enqueue({ tenantId, keyId, caller }, message) {
      const now = clock.now()
      const [id = ''] = await cells.forId(tenantId).transaction((tx) =>
        webhooks.enqueue(tx, [
          {
            tenantId,
            keyId,
            livemode: caller.livemode,
            area: 'age',
            event: 'age.session.completed',
            subjectId: randomUUID(),
            sequence: 1,
            headers: {},
            body: BODY,
            now,
            purgeAt: new Date(now.getTime() + DAY_MS),
            ...message,
          },
        ]),
      )
      return id
    },
    async close() {
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop(0)))
      await Promise.all(outbounds.map((outbound) => outbound.close()))
      await Promise.all(receivers.map((receiver) => receiver.close()))
      await harness.close()
    },
  }
}
