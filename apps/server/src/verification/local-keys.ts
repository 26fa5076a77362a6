import type { DeviceKey } from '@ostiary/contract'
import { kidOfLocalProof, type LocalClaim, ProofError, thumbprint, verifyLocalProof } from '@ostiary/crypto'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { checkSignature } from '../platform/node-crypto.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { verificationStore } from './store.ts'

/** Browsers of one person that keep a token. */
const MOST_PER_PERSON = 20
const COORDINATE_BYTES = 32

/** A claim that a key on record has signed. */
export interface ShownKey {
  puid: string
  /** base64url. */
  thumbprint: string
}

/** Keys of the tokens that browsers keep. Each belongs to one enrolled person and goes with that person. */
export function createLocalKeys({ clock }: { clock: Clock }) {
  const today = () => dayOf(clock.now())
  return {
    /** The owner of the key that signed exactly this claim; undefined in every other case, without a reason. */
    async check(db: Queryable, owner: TenantData, proof: string, claim: LocalClaim): Promise<ShownKey | undefined> {
      const kid = kidOfLocalProof(proof)
      if (kid === undefined) return undefined
      const row = await verificationStore.findLocalKey(db, owner, Buffer.from(kid, 'base64url'))
      if (!row) return undefined
      try {
        await verifyLocalProof(toKey(row.publicKey), proof, claim, checkSignature)
      } catch (error) {
        if (error instanceof ProofError) return undefined
        throw error
      }
      return { puid: row.personId, thumbprint: kid }
    },

    async bind(tx: Queryable, owner: TenantData, puid: string, key: DeviceKey): Promise<void> {
      const row = {
        thumbprint: Buffer.from(await thumbprint(key), 'base64url'),
        personId: puid,
        publicKey: Buffer.concat([Buffer.from(key.x, 'base64url'), Buffer.from(key.y, 'base64url')]),
      }
      await verificationStore.insertLocalKey(tx, owner, row, { day: today(), most: MOST_PER_PERSON })
    },

    async used(tx: Queryable, owner: TenantData, kid: string): Promise<void> {
      await verificationStore.useLocalKey(tx, owner, Buffer.from(kid, 'base64url'), today())
    },

    deletePerson: (tx: Queryable, owner: TenantData, puid: string): Promise<number> =>
      verificationStore.deletePerson(tx, owner, puid),
  }
}
export type LocalKeys = ReturnType<typeof createLocalKeys>

function toKey(publicKey: Buffer): DeviceKey {
  const part = (from: number) => publicKey.subarray(from, from + COORDINATE_BYTES).toString('base64url')
  return { kty: 'EC', crv: 'P-256', x: part(0), y: part(COORDINATE_BYTES) }
}

/** The day in UTC, as the table stores it. */
export const dayOf = (moment: Date) => moment.toISOString().slice(0, 10)
