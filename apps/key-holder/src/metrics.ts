import { VERDICTS, VERSION } from '@ostiary/contract'
import { ATTACK_EVENTS } from '@ostiary/token'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { CHECKS } from './errors.ts'
import type { Db } from './platform/db.ts'
import { shareStore } from './shares/store.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** A registry of its own, so that tests with two apps in one process do not share counters. */
export function createMetrics(db: Db, { processMetrics = true } = {}) {
  const registry = new Registry()
  if (processMetrics) {
    collectDefaultMetrics({ register: registry })
    // Gauges that the library names like counters.
    for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`)
  }
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Counter({ name: `ostiary_key_holder_${name}_total`, help, labelNames: [...labelNames], registers: [registry] })
  const metrics = {
    requests: counter('requests', 'Requests by operation and status', ['operation', 'status']),
    evaluations: counter('evaluations', 'Answers by kind and verdict', ['kind', 'verdict']),
    refusals: counter('refusals', 'Rejects without a judgement, by the check that failed', ['kind', 'check']),
    attacks: counter('attack_events', 'What no honest device and no honest server sends, by kind', ['attack']),
    frozen: counter('tokens_frozen', 'Tokens frozen by this process. Each is a reason to look: page the operator'),
    pendingPurged: counter('pending_purged', 'Key shares deleted because no confirmation came within an hour'),
    erasures: counter('erased_shares', 'Key shares deleted on request'),
  }
  // A rule sees the first event only as a rise from 0.
  for (const kind of ['enrolment', 'comparison']) {
    for (const verdict of VERDICTS) metrics.evaluations.inc({ kind, verdict }, 0)
    for (const check of CHECKS) metrics.refusals.inc({ kind, check }, 0)
  }
  for (const attack of ATTACK_EVENTS) metrics.attacks.inc({ attack }, 0)

  const gauge = { labelNames: ['version'], registers: [registry] }
  new Gauge({ ...gauge, name: 'ostiary_build_info', help: 'Always 1; the label tells the version' }).set(
    { version: VERSION },
    1,
  )
  const stored = () => shareStore.counts(db).catch(() => ({ pending: -1, active: -1, frozen: -1 }))
  new Gauge({
    name: 'ostiary_key_holder_shares',
    help: 'Key shares by state. -1 while the database cannot be asked',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const { pending, active } = await stored()
      this.set({ state: 'pending' }, pending)
      this.set({ state: 'active' }, active)
    },
  })
  new Gauge({
    name: 'ostiary_key_holder_frozen_tokens',
    help: 'Tokens that are frozen now. -1 while the database cannot be asked',
    registers: [registry],
    async collect() {
      this.set((await stored()).frozen)
    },
  })
  return { registry, ...metrics }
}
