import { VERDICTS } from '@ostiary/contract'
import { watchCells } from '../platform/cell-gauges.ts'
import { systemClock } from '../platform/clock.ts'
import { createLabelledCounter } from '../platform/metrics.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { createTokenComparison } from './comparison.ts'
import { createTokenEnrolment } from './enrolment.ts'
import { createErasures, type Erasures, PROBE_HASH_MS } from './erasures.ts'
import { createEvaluations } from './evaluations.ts'
import { createKeyHolderClient, type KeyHolderConfig } from './key-holder-client.ts'
import { createTokenSecrets } from './reseal.ts'

/** The key holder stands where the operator says. It is the only address that this client calls. */
const ANYWHERE = ['0.0.0.0/0', '::/0']

/** Tokens that are compared while they stay encrypted: the half of the work that needs no key of the key holder (docs/token.md). */
export function createMatcherRoom(platform: Platform, { keyHolder: config }: { keyHolder: KeyHolderConfig | null }) {
  const outbound = createOutbound({ version: platform.version, allowNetworks: ANYWHERE, allowHttp: true })
  // The clock of the machine: the two services compare their clocks with each other, whatever the time of a test is.
  const keyHolder = createKeyHolderClient({ ...platform, clock: systemClock, outbound, config })
  const compared = platform.metrics.add(
    createLabelledCounter(
      'ostiary_token_comparisons_total',
      'Comparisons of tokens by verdict; attack: a forged probe under a valid signature',
      { label: 'verdict', values: [...VERDICTS, 'attack'] },
    ),
  )
  const evaluations = createEvaluations()
  const shared = { ...platform, keyHolder, evaluations, count: compared.count }
  const erasures = createErasures(shared)
  return {
    keyHolder,
    enrolment: createTokenEnrolment(shared),
    comparison: createTokenComparison(shared),
    erasures,
    secrets: createTokenSecrets(platform),
    jobs: [
      {
        name: 'purge-tokens',
        cron: '*/5 * * * *',
        run: erasures.purge,
        due: { table: 'token_probes', column: 'created_at', keptMs: PROBE_HASH_MS },
      },
      { name: 'erase-at-key-holder', cron: '* * * * *', run: erasures.sendDue },
    ],
    retention: RETENTION,
    start: () => watchErasures(platform, erasures),
    close: () => evaluations.stop(),
  } satisfies Room & Record<string, unknown>
}
export type MatcherRoom = ReturnType<typeof createMatcherRoom>

function watchErasures(platform: Platform, erasures: Erasures): void {
  watchCells(platform, {
    everyMs: ERASURES_EVERY_MS,
    measure: ({ db }) => erasures.waiting(db),
    gauges: [
      {
        name: 'ostiary_key_holder_erasures_waiting',
        help: 'Tokens whose share the key holder still has to delete',
        read: ({ count }) => count,
      },
      {
        name: 'ostiary_key_holder_erasures_oldest_seconds',
        help: 'How long the oldest of them has waited',
        read: ({ oldestSeconds }) => oldestSeconds,
      },
    ],
  })
}
const ERASURES_EVERY_MS = 10_000

const RETENTION = [
  {
    table: 'face_tokens',
    key: 'tenant_id, livemode, token_id',
    growsWith: 'people enrolled by token',
    after: 'until the person is deleted; an hour if the enrolment fails',
    by: 'purge-tokens',
  },
  {
    table: 'token_failures',
    key: 'tenant_id, livemode, account, day',
    growsWith: 'people who sign in by token, a row a day',
    after: '31 days',
    by: 'purge-tokens',
  },
  {
    table: 'token_probes',
    key: 'tenant_id, livemode, probe_hash',
    growsWith: 'sign-ins by token',
    after: 'the bytes until the comparison, an hour at most; the hash for two days',
    by: 'purge-tokens',
  },
  {
    table: 'key_holder_erasures',
    key: 'tenant_id, erasure_id',
    growsWith: 'deleted people while the key holder is away',
    after: 'until the key holder has deleted its share',
    by: 'erase-at-key-holder',
  },
]
