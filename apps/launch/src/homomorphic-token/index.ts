import type { OpenedSession } from '@ostiary/contract'
import { systemClock } from '@ostiary/device'
import { trustedScriptUrl } from '../trusted-urls.ts'
import { createTokenClaims, type TokenApis, type TokenClaims, type TokenClaimsOptions } from './claims.ts'
import { createRecordStorage } from './record-storage.ts'
import workerUrl from './token-worker.ts?worker&url'

/** From KEY_HOLDER_FINGERPRINT of the build. */
declare const KEY_HOLDER_FINGERPRINTS: readonly string[]

/** The homomorphic token, in files of the built page that only sessions with tokens load. */
export async function setUpTokens(session: OpenedSession) {
  const apis: TokenApis = {
    records: createRecordStorage(systemClock.nowMs, () => indexedDB),
    fingerprints: KEY_HOLDER_FINGERPRINTS,
    startWorker: () => new Worker(trustedScriptUrl(workerUrl), { type: 'module', name: 'ostiary-token' }),
  }
  return {
    createTokens: (options: TokenClaimsOptions): TokenClaims => createTokenClaims(options, apis),
    session: await withMigration(session, apis.records),
  }
}

/** A browser that holds a key needs no vector any more: its user is not asked for one. */
async function withMigration(session: OpenedSession, records: TokenApis['records']): Promise<OpenedSession> {
  const { verification } = session
  if (!verification?.migrates) return session
  const migrates = (await records.find(verification.realm)) === undefined
  return { ...session, verification: { ...verification, migrates } }
}
