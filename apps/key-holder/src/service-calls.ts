import { KEY_HOLDER_LIMITS } from '@ostiary/contract'
import {
  importServiceKey,
  type HashedRequest,
  type RequestSignature,
  readRequestSignature,
  type ServiceReply,
  signServiceReply,
  verifyServiceRequest,
} from '@ostiary/crypto'
import { requestIdStore } from './call-store.ts'
import { CallError } from './errors.ts'
import type { ServiceKeys } from './keys.ts'
import type { Clock } from './platform/clock.ts'
import type { Db } from './platform/db.ts'

export type ServiceCalls = Awaited<ReturnType<typeof createServiceCalls>>

interface Deps {
  db: Db
  clock: Clock
  /** Public keys of the callers. */
  matcherKeys: readonly string[]
  keys: ServiceKeys
}

/** Requests of the server: each is signed, fresh, and accepted once. */
export async function createServiceCalls({ db, clock, matcherKeys, keys }: Deps) {
  const callers = await Promise.all(matcherKeys.map(importServiceKey))
  const windowMs = KEY_HOLDER_LIMITS.requestSeconds * 1000

  return {
    /** What the header says. Throws 401 where it is missing or malformed, or of another time. */
    read(header: string | undefined): RequestSignature {
      const signed = readRequestSignature(header)
      if (!signed) throw new CallError(401, 'The request is not signed')
      if (Math.abs(clock.now().getTime() - signed.timeMs) > windowMs)
        throw new CallError(401, 'The request is too old, or the clocks differ')
      return signed
    },

    /** Throws 401 unless a known caller signed exactly this request. */
    async verify(request: HashedRequest, signed: RequestSignature): Promise<void> {
      const checks = await Promise.all(callers.map((key) => verifyServiceRequest(key, request, signed)))
      if (!checks.some(Boolean)) throw new CallError(401, 'The signature is not valid')
    },

    /** Throws 409 for an id that was used before. It is remembered until the time window refuses the request anyway. */
    async useOnce({ requestId, timeMs }: RequestSignature): Promise<void> {
      const isNew = await requestIdStore.use(db, requestId, new Date(timeMs + windowMs))
      if (!isNew) throw new CallError(409, 'The request id was used before')
    },

    signReply: (reply: ServiceReply) => signServiceReply(keys.servicePrivateKey, reply),
  }
}
