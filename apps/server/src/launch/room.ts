import type { FastifyInstance } from 'fastify'
import type { AgeRoom } from '../age/index.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import type { SessionsRoom } from '../sessions/index.ts'
import type { SettingsRoom } from '../settings/index.ts'
import type { VerificationRoom } from '../verification/index.ts'
import { localeRoutes } from './locales.ts'
import { launchPageRoutes } from './page-routes.ts'
import { createPageUse } from './page-use.ts'
import { launchRoutes } from './routes.ts'
import { createLaunch } from './service.ts'
import { createWatchers } from './watchers.ts'

interface Deps {
  settings: SettingsRoom
  sessions: SessionsRoom
  age: AgeRoom
  verification: VerificationRoom
  /** Where the launch page is. */
  url: string
  /** Where the built page lies on this machine. */
  folder: string
}

/** What a device calls, and the launch page itself. */
export function createLaunchRoom(platform: Platform, { settings, sessions, age, verification, url, folder }: Deps) {
  const shared = { ...platform, sessions: sessions.service, settings: settings.service }
  const { flow, passkeySteps } = verification
  const flows = { age: age.flow, verification: flow }
  const service = createLaunch({ ...shared, flows, passkeySteps, launchUrl: url })
  const use = createPageUse(shared)
  const watchers = createWatchers()
  return {
    service,
    async routes(app: FastifyInstance) {
      app.register(launchRoutes, { ...platform, launch: service, watchers, origin: new URL(url).origin })
      app.register(launchPageRoutes, { folder, use })
      app.register(localeRoutes)
    },
    jobs: [],
    retention: [],
    close: async () => {},
  } satisfies Room & Record<string, unknown>
}
