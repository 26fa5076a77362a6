import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningKeyHolder, startKeyHolder } from './key-holder.ts'
import { buildPinnedPage } from './launch-page.ts'
import { ostiary } from './run.ts'
import { type RunningSystem, startSystem } from './system.ts'

export interface TokenSystem {
  system: RunningSystem
  keyHolder: RunningKeyHolder
  /** A test key of the tenant that stores this of a face. */
  keyOf(templates: Stored): string
  stop(): Promise<void>
}

type Stored = 'token' | 'token_on_device'
const TENANTS = {
  token: { name: 'Acceptance One', key: 'OSTIARY_TEST_KEY_ONE' },
  token_on_device: { name: 'Acceptance Two', key: 'OSTIARY_TEST_KEY_TWO' },
} as const satisfies Record<Stored, object>
/** A process reads settings again after five seconds. */
const EFFECTIVE_MS = 6_000

/** A whole installation that stores tokens: API, worker and key holder as processes, and a page that was built with the key holder's pin. */
export async function startTokenSystem(logName: string): Promise<TokenSystem> {
  const keyHolder = await startKeyHolder({ logName })
  const page = mkdtempSync(join(tmpdir(), 'ostiary-token-page-'))
  buildPinnedPage(page, [keyHolder.published.fingerprint])
  const system = await startSystem(logName, async () => ({
    LAUNCH_DIR: page,
    KEY_HOLDER_URL: keyHolder.url,
    KEY_HOLDER_KEY: keyHolder.published.serviceKey,
    KEY_HOLDER_CLIENT_KEY: keyHolder.matcherSeed,
  }))
  for (const [templates, { name }] of Object.entries(TENANTS))
    ostiary(system.settings, 'tenants', 'settings', name, '--set', `templates=${templates}`)
  await sleep(EFFECTIVE_MS)
  return {
    system,
    keyHolder,
    keyOf: (templates) => system.env[TENANTS[templates].key] ?? '',
    async stop() {
      await system.stop()
      await keyHolder.remove()
      rmSync(page, { recursive: true, force: true })
    },
  }
}
