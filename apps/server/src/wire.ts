import { createAgeRoom } from './age/index.ts'
import { createBiometricsRoom } from './biometrics/index.ts'
import type { Config } from './config.ts'
import { createDocumentsRoom } from './documents/index.ts'
import { createKeysRoom } from './keys/index.ts'
import { createLaunchRoom } from './launch/index.ts'
import { createMatcherRoom } from './matcher/index.ts'
import { createPasskeysRoom } from './passkeys/index.ts'
import { createPlatform, type PlatformOptions } from './platform/platform.ts'
import { closeAll, type Room } from './platform/room.ts'
import { createSanctionsRoom } from './sanctions/index.ts'
import { createSandboxRoom } from './sandbox/index.ts'
import { createSessionsRoom } from './sessions/index.ts'
import { createSettingsRoom } from './settings/index.ts'
import { createStringsRoom } from './strings/index.ts'
import { createVerificationRoom, erasePerson } from './verification/index.ts'
import { createWebhooksRoom } from './webhooks/index.ts'

export type WireOptions = Pick<PlatformOptions, 'role' | 'clock' | 'log' | 'tracing'>

/** The only place where rooms are constructed and closed. Opens no connection yet. */
export function createWire(config: Config, options: WireOptions) {
  const launchUrl = config.launch.url
  const platform = createPlatform(config, { ...options, sessionSettings: PLANS })
  const settings = createSettingsRoom(platform)
  const keys = createKeysRoom(platform, { ...config, clientPolicyOf: settings.clientPolicyOf })
  const webhooks = createWebhooksRoom(platform, { ...config, keys })
  const sessions = createSessionsRoom(platform)
  const documents = createDocumentsRoom(platform)
  const passkeys = createPasskeysRoom(platform, { launchUrl })
  const matcher = createMatcherRoom(platform, config)
  const onErase = [passkeys.service.deletePerson, erasePerson, matcher.erasures.deletePerson]
  const biometrics = createBiometricsRoom(platform, { keys, settings, onErase })
  const strings = createStringsRoom(platform, { keys })
  const sanctions = createSanctionsRoom(platform, { keys, settings, sessions, ...config.sanctions })
  const shared = { keys, settings, webhooks, sessions, launchUrl }
  const age = createAgeRoom(platform, shared)
  const verification = createVerificationRoom(platform, { ...shared, biometrics, passkeys, matcher })
  const page = { ...config.launch, networkListsDir: config.networkListsDir }
  const launch = createLaunchRoom(platform, { settings, sessions, documents, age, verification, ...page })
  const sandbox = createSandboxRoom(platform, { keys, sessions, age, verification, webhooks })

  const rooms = {
    ...{ settings, keys, webhooks, sessions, documents, passkeys, matcher, biometrics },
    ...{ strings, sanctions, age, verification, launch, sandbox },
  }
  const all: readonly Room[] = Object.values(rooms)
  let closing: Promise<void> | undefined
  return {
    config,
    platform,
    ...rooms,
    /** Waits for background work to end, for at most this long. The databases stay open. */
    async stop(timeoutMs: number): Promise<void> {
      await Promise.all(all.map((room) => room.stop?.(timeoutMs)))
    },
    /** Ends and closes everything, in reverse order. */
    close(): Promise<void> {
      closing ??= closeAll([platform, ...all])
      return closing
    },
  }
}
/**
 * Statements are planned once for each connection, and not for each set of values: with 68 days PostgreSQL would plan most of them again every
 * time, which takes longer than running them (decision 0053). A statement that needs a plan for its values sets this for its transaction.
 * Compiling one (jit) takes longer than running it: a plan for any values guesses far too many rows for the search of faces.
 */
const PLANS = { plan_cache_mode: 'force_generic_plan', jit: 'off' }

export type Wire = ReturnType<typeof createWire>
