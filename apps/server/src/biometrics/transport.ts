import { createHash } from 'node:crypto'
import { type ModelVersion, NODE_LIMITS } from '@ostiary/contract'
import { createSealer, EnvelopeError, type EnvelopePurpose, openEnvelope } from '@ostiary/crypto'
import type { Caller } from '../keys/index.ts'
import type { Platform } from '../platform/platform.ts'
import { purging } from '../platform/purge-in-batches.ts'
import { nodeError } from './errors.ts'
import { faceStore } from './store.ts'

type Deps = Pick<Platform, 'cells' | 'clock' | 'ids'>

interface SealedIds {
  puid: string
  guid: string
}

/** Envelopes of the encrypted endpoints: opens each request's envelope once, and creates those of replies. */
export function createTransport({ cells, clock, ids }: Deps) {
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000)

  /** Accepts an envelope once within its time window. After the window it is refused by its age. */
  async function useOnce(caller: Caller, purpose: EnvelopePurpose, envelopeId: string): Promise<void> {
    const hash = createHash('sha256').update(`${caller.keyId}/${envelopeId}`).digest()
    // Twice the window, because the sender's clock may be ahead by one window, plus a minute for clocks that differ.
    const keptMs = (2 * NODE_LIMITS.envelopeWindowSeconds + 60) * 1000
    const expiresAt = new Date(clock.now().getTime() + keptMs)
    const db = cells.forId(caller.tenantId)
    const first = await faceStore.useEnvelope(db, caller.tenantId, hash, expiresAt).catch((error: unknown) => {
      throw nodeError(purpose === 'enroll' ? 'NODE_ENROLL_FAILED' : 'NODE_PREDICT_FAILED', undefined, error)
    })
    if (!first) throw nodeError('NODE_FEATURES_UNREADABLE', 'the envelope was used before')
  }

  return {
    /** The text of an envelope that a caller made for this operation. */
    async openFeatures(
      caller: Caller,
      apiKey: string,
      compact: string,
      expected: { purpose: EnvelopePurpose; version: ModelVersion },
    ): Promise<string> {
      const window = { nowSeconds: nowSeconds(), seconds: NODE_LIMITS.envelopeWindowSeconds }
      try {
        const envelope = await openEnvelope(apiKey, compact, {
          purposes: [expected.purpose],
          modelVersion: expected.version,
          window,
        })
        await useOnce(caller, envelope.purpose, envelope.id)
        return envelope.text
      } catch (error) {
        throw error instanceof EnvelopeError ? nodeError('NODE_FEATURES_UNREADABLE', REASONS[error.fault]) : error
      }
    },

    /**
     * The id in an envelope that we made in a reply, whatever its age; undefined when it does not open. With `version`,
     * also one that the caller made for a deletion, within the time window. A deletion cannot be repeated, so it does not
     * matter whether an envelope was used before.
     */
    async openPuid(apiKey: string, compact: string, version?: ModelVersion): Promise<string | undefined> {
      try {
        const purposes: EnvelopePurpose[] = version === undefined ? ['puid'] : ['puid', 'deleteUser', 'delete']
        const { purpose, modelVersion, issuedAt, text } = await openEnvelope(apiKey, compact, { purposes })
        if (purpose === 'puid') return text
        // It opens with the right key but cannot be used: the answer must differ from that for an unknown user.
        if (modelVersion !== version) throw nodeError('NODE_PUID_UNREADABLE', REASONS['model version'])
        const recent = Math.abs(nowSeconds() - issuedAt) <= NODE_LIMITS.envelopeWindowSeconds
        if (!recent) throw nodeError('NODE_PUID_UNREADABLE', REASONS.time)
        return text
      } catch (error) {
        if (error instanceof EnvelopeError) return undefined
        throw error
      }
    },

    /** Ids for a reply. All of one reply share their keys; each has its own nonce. */
    async sealIds<T extends SealedIds>(apiKey: string, version: ModelVersion, rows: readonly T[]): Promise<T[]> {
      const [sealPuid, sealGuid] = await Promise.all([createSealer(apiKey, 'puid'), createSealer(apiKey, 'guid')])
      const envelope = (text: string) => ({
        modelVersion: version,
        issuedAt: nowSeconds(),
        id: ids.nextUnbound(),
        text,
      })
      return Promise.all(
        rows.map(async (row) => ({
          ...row,
          puid: await sealPuid(envelope(row.puid)),
          guid: await sealGuid(envelope(row.guid)),
        })),
      )
    },
  }
}
export type Transport = ReturnType<typeof createTransport>

/** Deletes the records of used envelopes that are too old to be accepted again. */
export const purgeUsedEnvelopes = purging(faceStore.purgeEnvelopes)

const REASONS: Readonly<Record<EnvelopeError['fault'], string>> = {
  format: 'this is no compact JWE',
  header: 'the header of the JWE is not as described',
  purpose: 'the envelope is for another operation',
  'model version': 'the envelope is for another model version',
  time: `the envelope was made more than ${NODE_LIMITS.envelopeWindowSeconds / 60} minutes from now`,
  key: 'the envelope does not open with this API key',
  text: 'the decrypted text is not UTF-8',
}
