import type { FastifyInstance } from 'fastify'
import type { AgeRoom } from '../age/index.ts'
import type { DocumentsRoom } from '../documents/index.ts'
import type { Platform } from '../platform/platform.ts'
import type { Room } from '../platform/room.ts'
import { createNetworkLists } from '../risk/index.ts'
import type { SessionsRoom } from '../sessions/index.ts'
import type { SettingsRoom } from '../settings/index.ts'
import type { VerificationRoom } from '../verification/index.ts'
import { createHandoffGuesses } from './handoff-guesses.ts'
import { localeRoutes } from './locales.ts'
import { launchPageRoutes } from './page-routes.ts'
import { createPageUse } from './page-use.ts'
import { launchRoutes } from './routes.ts'
import { createLaunch } from './service.ts'
import { createWatchers } from './watchers.ts'

interface Deps {
  settings: SettingsRoom
  sessions: SessionsRoom
  documents: DocumentsRoom
  age: AgeRoom
  verification: VerificationRoom
  /** Where the launch page is. */
  url: string
  /** Where the built page lies on this machine. */
  folder: string
  /** Where the operator's lists of networks are, if there are any. */
  networkListsDir: string | null
}

/** What a device calls, and the launch page itself. */
export function createLaunchRoom(platform: Platform, deps: Deps) {
  const { settings, sessions, documents, age, verification, url, folder, networkListsDir } = deps
  const shared = { ...platform, sessions: sessions.service, settings: settings.service }
  const { flow, passkeySteps, tokenSteps } = verification
  const flows = { age: age.flow, verification: flow }
  const service = createLaunch({
    ...shared,
    documents: documents.service,
    flows,
    passkeySteps,
    tokenSteps,
    launchUrl: url,
  })
  const use = createPageUse(shared)
  const watchers = createWatchers()
  const networkLists = createNetworkLists({ ...platform, dir: networkListsDir })
  const handoffGuesses = createHandoffGuesses(shared)
  return {
    service,
    /** Reads the operator's lists of networks, which takes seconds for large ones. Throws if one cannot be used. */
    load: networkLists.load,
    async routes(app: FastifyInstance) {
      const { origin } = new URL(url)
      app.register(launchRoutes, { ...platform, launch: service, networkLists, watchers, handoffGuesses, origin })
      app.register(launchPageRoutes, { folder, use })
      app.register(localeRoutes)
    },
    close: networkLists.close,
  } satisfies Room & Record<string, unknown>
}
