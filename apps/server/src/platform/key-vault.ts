import { createSealer, masterKeyId as idOf, type Sealed } from '@ostiary/service-kit/sealing'
import { takeRandom } from './random.ts'

export type { Sealed } from '@ostiary/service-kit/sealing'

/**
 * Seals secrets before they are stored. `context` names the row (table and key): a sealed value that is copied into
 * another row does not open there. An interface because a key management service will be the second implementation.
 */
export interface KeyVault {
  readonly currentKeyId: string
  knows(masterKeyId: string): boolean
  seal(secret: Uint8Array, context: string): Promise<Sealed>
  open(sealed: Sealed, context: string): Promise<Buffer>
}

/** Called by a reseal with the table and id of a row that no configured master key opens. The row stays as it is. */
export type OnUnreadable = (row: string) => void

const OWN = { keyIdPrefix: 'ostiary/master-key-id/', derivedFor: 'ostiary/vault/v1', randomBytes: takeRandom }

export const masterKeyId = (key: Uint8Array): string => idOf(key, OWN.keyIdPrefix)

export function createKeyVault(masterKeys: readonly Uint8Array[]): KeyVault {
  const { currentKeyId, knows, seal, open } = createSealer(masterKeys, OWN)
  return {
    currentKeyId,
    knows,
    seal: async (secret, context) => seal(secret, context),
    open: async (sealed, context) => open(sealed, context),
  }
}
