import type { FastifyInstance } from 'fastify'
import type { AgeRoom } from '../age/index.ts'
import type { KeysRoom } from '../keys/index.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { SessionsRoom } from '../sessions/index.ts'
import type { VerificationRoom } from '../verification/index.ts'
import type { WebhooksRoom } from '../webhooks/index.ts'
import { sandboxRoutes } from './routes.ts'
import { createSandbox } from './service.ts'

interface Deps {
  keys: KeysRoom
  sessions: SessionsRoom
  age: AgeRoom
  verification: VerificationRoom
  webhooks: WebhooksRoom
}

/** What test keys can do that live keys cannot. */
export function createSandboxRoom(platform: Platform, { keys, sessions, age, verification, webhooks }: Deps) {
  const sandbox = createSandbox({
    ...platform,
    sessions: sessions.service,
    ending: age.ending,
    verificationEnding: verification.ending,
    lockouts: verification.lockouts,
    webhooks: webhooks.service,
  })
  return {
    async routes(app: FastifyInstance) {
      app.register(sandboxRoutes, { sandbox, guard: keys.guard })
    },
  } satisfies Room
}
