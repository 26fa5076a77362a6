/** The parts of the homomorphic token, with test implementations of storage and worker. Only tests import this. */
import { bodyHash, createSealKeyPair, encodeBytes, thumbprint } from '@ostiary/crypto'
import { createTokenKeys } from '@ostiary/device'
import { createProbe, createToken } from '@ostiary/token'
import { faceOf } from '../../local-token/testing/faces.ts'
import { createTokenClaims, type TokenApis, type TokenClaimsOptions } from '../claims.ts'
import { makeMessage } from '../make-message.ts'
import type { RecordAside, RecordStorage, TokenRecord } from '../record-storage.ts'
import type { TokenWorker } from '../run-worker.ts'

export const TOKEN_ID = 'AQEBAQEBAQEBAQEBAQEBAQ'
export const keyHolder = await createSealKeyPair()
export const PIN = await thumbprint(keyHolder.publicJwk)
/** Of a token of this face. */
export const enrolled = await createToken(new Uint8Array(16).fill(1), faceOf(1))
export const publicKey = encodeBytes(enrolled.publicKey)
const publicKeyHash = await bodyHash(enrolled.publicKey)

export function recordsWith(kept = new Map<string, TokenRecord>(), { refuses = false } = {}) {
  const aside = new Map<string, RecordAside>()
  const storage: RecordStorage = {
    find: async (realm) => kept.get(realm),
    canKeep: async () => !refuses,
    async putAside(sessionId, record) {
      if (refuses) throw new Error('The browser refuses storage')
      aside.set(sessionId, record)
    },
    async keep(sessionId) {
      const found = aside.get(sessionId)
      if (found) kept.set(found.realm, found.record)
      aside.delete(sessionId)
    },
    drop: async (sessionId) => void aside.delete(sessionId),
  }
  return { ...storage, kept, aside }
}

/** A browser that holds the key of a token. */
export async function recordsOf(sealedToken: string | null = null) {
  const record: TokenRecord = {
    version: 1,
    tokenId: TOKEN_ID,
    publicKeyHash,
    account: 'AgICAgICAgICAgICAgICAg',
    keys: await createTokenKeys(),
    sealedToken,
  }
  return recordsWith(new Map([['shop', record]]))
}

/** Workers that compute on this thread, and what became of them. */
export function createWorkers({ fails = false } = {}) {
  const seen = { started: 0, ended: 0, vectors: [] as Float32Array[] }
  const start = (): TokenWorker => {
    seen.started++
    const worker: TokenWorker = {
      onmessage: null,
      onerror: null,
      postMessage(job) {
        seen.vectors.push(job.vector)
        if (fails) queueMicrotask(() => worker.onerror?.(new Event('error') as ErrorEvent))
        else
          makeMessage(job, { createToken, createProbe }).then((message) =>
            worker.onmessage?.(new MessageEvent('message', { data: { message } })),
          )
      },
      terminate: () => void seen.ended++,
    }
    return worker
  }
  return { start, seen }
}

/** For `createTokens` of the browser's APIs. */
export function tokensWith(apis: Partial<TokenApis>) {
  const all: TokenApis = {
    records: recordsWith(),
    fingerprints: [PIN],
    startWorker: createWorkers().start,
    ...apis,
  }
  return (options: TokenClaimsOptions) => createTokenClaims(options, all)
}
