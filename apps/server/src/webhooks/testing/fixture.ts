/** The fixture on a real database, with what it needs. Only tests import this. */
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { Caller } from '../../keys/index.ts'
import { type Clock, DAY_MS } from '../../platform/clock.ts'
import type { Leases } from '../../platform/leases.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createPooledOutbound, type PooledOptions, type PooledOutbound } from '../../platform/outbound/pooled.ts'
import { createHarness } from '../../testing/harness.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from '../dispatcher.ts'
import type { WebhookMessage } from '../message.ts'
import { createWebhookMetrics } from '../metrics.ts'
import { createWebhookService } from '../service.ts'
import { createReceiver, type Receiver } from './receiver.ts'

export interface Tenant {
  tenantId: string
  keyId: string
  key: string
  caller: Caller
}

export type Fixture = Awaited<ReturnType<typeof createFixture>>

/** Long enough for answers on a busy machine. A test of an answer that never comes passes a shorter one. */
const ANSWER_TIMEOUT_MS = 20_000
export const BODY = Buffer.from('{"sessionStatus": "COMPLETED",\n "note":"Grüße 😀"}')

export async function createFixture() {
  const receivers: Receiver[] = []
  const outbounds: PooledOutbound[] = []
  const dispatchers: Dispatcher[] = []
  // Hooks run in their order, and what works on the harness stops before it does.
  after(async () => {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop(0)))
    await Promise.all(outbounds.map((outbound) => outbound.close()))
    await Promise.all(receivers.map((receiver) => receiver.close()))
  })
  const harness = await createHarness()
  const { platform, keys } = harness.wire
  const { webhookKeys } = harness.wire.webhooks
  const { cells, clock, version } = platform
  const allowNetworks = ['127.0.0.0/8']
  const events = { inboxUrl: 'http://localhost:8080/events/inbox', live: false }
  const webhooks = createWebhookService({ ...platform, allowNetworks, events })
  const metrics = createWebhookMetrics(createMetrics(version, { processMetrics: false }))
  const newOutbound = (options: Partial<PooledOptions> = {}) => {
    const outbound = createPooledOutbound({ allowNetworks, timeoutMs: ANSWER_TIMEOUT_MS, ...options })
    outbounds.push(outbound)
    return outbound
  }
  type Parts = { clock?: Clock; outbound?: PooledOutbound; leases?: Leases }
  const newDispatcher = ({
    clock: own = clock,
    outbound = newOutbound(),
    leases = platform.leases,
    ...options
  }: DispatcherOptions & Parts = {}) => {
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
    /** Not started: tests call `tick`. */
    dispatcher: newDispatcher(),
    newDispatcher,
    newOutbound,
    async newReceiver() {
      const receiver = await createReceiver()
      receivers.push(receiver)
      return receiver
    },
    async newTenant(livemode = false): Promise<Tenant> {
      const { tenantId, record, key } = await harness.tenantWithKey({ livemode, scopes: ['age:read', 'age:write'] })
      return { tenantId, keyId: record.id, key, caller: { tenantId, livemode, keyId: record.id, rateFactor: 1 } }
    },
    /** Enqueues one message in a transaction of its own; returns the id of the delivery. */
    async enqueue({ tenantId, keyId, caller }: Tenant, message: Partial<WebhookMessage> & { url: string | null }) {
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
  }
}
