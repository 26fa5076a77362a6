import { SESSION_OUTCOMES } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import type { BiometricsRoom } from '../biometrics/index.ts'
import type { KeysRoom } from '../keys/index.ts'
import type { MatcherRoom } from '../matcher/index.ts'
import type { PasskeysRoom } from '../passkeys/index.ts'
import type { Db } from '../platform/db.ts'
import { createLabelledCounter } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { SessionsRoom } from '../sessions/index.ts'
import type { SettingsRoom } from '../settings/index.ts'
import type { WebhooksRoom } from '../webhooks/index.ts'
import { createBudget } from './budget.ts'
import { createVerificationEnding } from './ending.ts'
import { renderVerificationError } from './errors.ts'
import { createVerificationFlow } from './flow.ts'
import { createFreeing } from './freeing.ts'
import { LOCAL_KEYS_KEPT_MS, purgeLocalKeys, purgeLockouts } from './jobs.ts'
import { createLocalKeys } from './local-keys.ts'
import { createLockouts } from './lockouts.ts'
import { createPasskeySteps } from './passkey-step.ts'
import { discardOrphanedEnrolments } from './provisional-persons.ts'
import { verificationRoutes } from './routes.ts'
import { createVerificationService } from './service.ts'
import { createTokenSteps } from './token-steps.ts'
import { createWork } from './work.ts'

interface Deps {
  keys: KeysRoom
  settings: SettingsRoom
  sessions: SessionsRoom
  webhooks: WebhooksRoom
  biometrics: BiometricsRoom
  passkeys: PasskeysRoom
  matcher: MatcherRoom
  launchUrl: string
}

/** Area D. */
export function createVerificationRoom(platform: Platform, deps: Deps) {
  const { keys, settings, sessions, webhooks, biometrics, passkeys, matcher, launchUrl } = deps
  const { enrolment, recognition } = biometrics
  const shared = { ...platform, sessions: sessions.service, webhooks: webhooks.service }
  const ended = createLabelledCounter(
    'ostiary_verifications_ended_total',
    'ENROLL, SIGN-IN and VERIFY sessions that ended, by how',
    { label: 'outcome', values: SESSION_OUTCOMES },
  )
  const ending = createVerificationEnding({ ...shared, metrics: platform.metrics.add(ended) })
  const service = createVerificationService({ ...shared, settings: settings.service, ending, launchUrl })
  const localKeys = createLocalKeys(platform)
  const lockouts = createLockouts(platform)
  const budget = createBudget(platform)
  const work = createWork({ ...shared, enrolment, recognition, localKeys, matcher })
  const flow = createVerificationFlow({
    ...shared,
    ending,
    work,
    passkeys: passkeys.service,
    localKeys,
    lockouts,
    budget,
  })
  const sweepers = sessions.createSweepers(ending.expireDue)
  const discard = (db: Db, now: Date) => discardOrphanedEnrolments(db, recognition, now)
  return {
    service,
    ending,
    flow,
    passkeySteps: createPasskeySteps({ ...shared, passkeys: passkeys.service }),
    tokenSteps: createTokenSteps({ ...shared, matcher, work }),
    lockouts,
    async routes(app: FastifyInstance) {
      app.register(verificationRoutes, {
        ...platform,
        verification: service,
        freeing: createFreeing({ ...shared, recognition, lockouts }),
        guard: keys.guard,
        credentials: keys.clientGate,
      })
    },
    errorShapes: ['/v2/verification-session', '/v2/verification-sessions', '/v2/verification-lockout'].map((under) => ({
      under,
      render: renderVerificationError,
    })),
    jobs: [
      {
        name: 'purge-lockouts',
        cron: '*/5 * * * *',
        run: purgeLockouts,
        due: { table: 'sign_in_lockouts', column: 'purge_at' },
      },
      {
        name: 'purge-local-keys',
        cron: '*/5 * * * *',
        run: purgeLocalKeys,
        due: { table: 'local_keys', column: 'last_used_on', keptMs: LOCAL_KEYS_KEPT_MS },
      },
      {
        name: 'discard-orphaned-enrolments',
        cron: '* * * * *',
        run: discard,
        due: { table: 'provisional_persons', column: 'due_at' },
      },
    ],
    retention: RETENTION,
    start: sweepers.start,
    stop: sweepers.stop,
    close: sweepers.stop,
  } satisfies Room & Record<string, unknown>
}
export type VerificationRoom = ReturnType<typeof createVerificationRoom>

const RETENTION = [
  {
    table: 'local_keys',
    key: 'tenant_id, livemode, thumbprint',
    growsWith: 'enrolled people, at most 20 each',
    after: 'until the person is deleted, or 400 days without use',
    by: 'purge-local-keys',
  },
  {
    table: 'provisional_persons',
    key: 'tenant_id, livemode, person_id',
    growsWith: 'ENROLL sessions that fail while they enrol; people who are reported to the host in their first weeks',
    after: 'a minute, and ten weeks',
    by: 'discard-orphaned-enrolments',
  },
  {
    table: 'sign_in_lockouts',
    key: 'tenant_id, livemode, subject',
    growsWith: 'failed sign-ins, and those that needed a second try',
    after: 'minutes',
    by: 'purge-lockouts',
  },
]
