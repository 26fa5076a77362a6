import { DeviceKey, decodeFrame, encodeFrame } from '@ostiary/contract'
import { FORMAT, MODEL_FACE3_3 } from '@ostiary/token'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { KeyVault, Sealed } from '../platform/key-vault.ts'

/** What the key holder keeps of a token. */
export interface Share {
  keyShare: Uint8Array
  /** base64url of SHA-256. With it, an old or foreign token in the matcher's row is found. */
  tokenHash: string
  tokenNorm: number
  deviceKey: DeviceKey
}

/** What a sealed row is bound to. */
export interface ShareName {
  realm: string
  account: string
  tokenId: string
  model: number
  format: number
}

const Facts = Type.Object({ tokenHash: Type.String(), tokenNorm: Type.Integer(), deviceKey: DeviceKey })
const facts = Compile(Facts)
const FACTS_MAX_BYTES = 1_000

/** The model and the format that this release makes. */
export const CURRENT = { model: MODEL_FACE3_3, format: FORMAT } as const

export function sealShare(vault: KeyVault, name: ShareName, { keyShare, ...rest }: Share): Sealed {
  return vault.seal(encodeFrame(rest, [keyShare]), contextOf(name))
}

/** Throws for a row that was changed, or copied from another one. */
export function openShare(vault: KeyVault, name: ShareName, sealed: Sealed): Share {
  const frame = vault.open(sealed, contextOf(name))
  const { message, parts } = decodeFrame(frame, { parts: 1, messageBytes: FACTS_MAX_BYTES })
  const [keyShare] = parts
  if (!keyShare || !facts.Check(message)) throw new Error('Not a key share')
  return { ...message, keyShare }
}

/** The same content under the current master key. */
export function resealShare(vault: KeyVault, name: ShareName, sealed: Sealed): Sealed {
  return vault.seal(vault.open(sealed, contextOf(name)), contextOf(name))
}

const contextOf = ({ realm, account, tokenId, model, format }: ShareName) =>
  JSON.stringify(['key-share', realm, account, tokenId, model, format])
