import { randomBytes } from 'node:crypto'
import { createSealer, type Sealer } from '@ostiary/service-kit/sealing'

export type { Sealed } from '@ostiary/service-kit/sealing'

export type KeyVault = Sealer

const OWN = { keyIdPrefix: 'ostiary/key-holder-master-key-id/', derivedFor: 'ostiary/key-holder-vault/v1', randomBytes }

export const createKeyVault = (masterKeys: readonly Uint8Array[]): KeyVault => createSealer(masterKeys, OWN)
