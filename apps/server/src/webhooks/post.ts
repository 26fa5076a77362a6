import type { DeadReason } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { KeyVault, Sealed } from '../platform/key-vault.ts'
import { OutboundError, type OutboundReason, RESOLVED } from '../platform/outbound/index.ts'
import type { PooledOutbound } from '../platform/outbound/pooled.ts'
import { createMessageOpener } from './envelope.ts'
import { type Call, onceContext, sealContext, unpackCall } from './message.ts'
import type { Claim, Payload } from './queue-store.ts'
import { type AttemptResult, attemptResultOf } from './schedule.ts'
import { signedHeaders } from './signed-headers.ts'
import { createSigning, type NoSigner, type Signer, type SigningDeps } from './signer.ts'

export interface PostDeps extends SigningDeps {
  clock: Clock
  vault: KeyVault
  outbound: PooledOutbound
  version: string
}

/** An attempt that was made. */
export type Posted = { startedAt: Date; durationMs: number } & AttemptResult
/** The reason why no attempt can ever be made. */
export interface Impossible {
  impossible: DeadReason
}

/** A message that can be sent now. */
export interface Ready {
  call: Call
  signer: Signer
}

/** Opens a message, signs it and posts it to its receiver. */
export function createPost({ clock, vault, outbound, version, ...signing }: PostDeps) {
  const signerOf = createSigning(signing)
  const open = createMessageOpener(vault)
  const userAgent = `Ostiary/${version}`

  function toReady(claim: Claim, payload: Payload, signer: Signer): Ready | Promise<Ready> {
    const opened = open(payload, sealContext(claim.tenantId, claim.deliveryId))
    if (opened instanceof Promise) return opened.then((packed) => ({ call: unpackCall(packed), signer }))
    return { call: unpackCall(opened), signer }
  }

  return {
    /**
     * Finds the signer and opens the message. A promise only while something must be looked up first. Throws when the failure is ours (a key or
     * the vault): then nothing was sent.
     */
    prepare(claim: Claim, payload: Payload, now: Date): Prepared | Promise<Prepared> {
      if (payload.purgeAtMs <= now.getTime()) return { impossible: 'retention' }
      if (claim.failNext > 0 && !claim.livemode) return { startedAt: now, durationMs: 0, outcome: 'sandbox' }
      const decide = (signer: Signer | NoSigner) => {
        if (signer === 'key_removed') return { impossible: signer }
        if (signer === 'unsigned') return { startedAt: now, durationMs: 0, outcome: signer }
        return toReady(claim, payload, signer)
      }
      const found = signerOf(claim, payload)
      return found instanceof Promise ? found.then(decide) : decide(found)
    },

    /** The same with the one-time body. */
    async withOnce({ call, signer }: Ready, { tenantId, deliveryId }: Claim, once: Sealed): Promise<Ready> {
      return { call: { ...call, body: await open(once, onceContext(tenantId, deliveryId)) }, signer }
    },

    /** Signs and sends. Calls `done` later, once. Each attempt has its own time and signature. */
    send(claim: Claim, payload: Payload, { call, signer }: Ready, done: (posted: Posted) => void): void {
      const startedAt = clock.now()
      const startedMs = clock.monotonicMs()
      const end = (result: AttemptResult) =>
        done({
          startedAt,
          durationMs: Math.round(clock.monotonicMs() - startedMs),
          outcome: result.outcome,
          status: result.status,
          retryAfterMs: result.retryAfterMs,
          isResolved: result.isResolved,
        })
      const request = {
        owner: claim.tenantId,
        url: call.url,
        allowHttp: !claim.livemode,
        headers: headersOf(claim, payload, call, { startedAt, signer, userAgent }),
        body: call.body,
      }
      try {
        outbound.send(request, (error, answer) =>
          end(answer ? attemptResultOf(answer.status, answer.retryAfter, clock.now()) : failureOf(error)),
        )
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        queueMicrotask(() => end(failureOf(error)))
      }
    },
  }
}
export type Post = ReturnType<typeof createPost>
/** A message to send, or an outcome without sending, or the reason why it can never be sent. */
export type Prepared = Ready | Posted | Impossible

/** The address that a name resolves to can change between attempts, so such a refusal is not final. A forbidden URL is. */
function failureOf(error: OutboundError | undefined): AttemptResult {
  return { outcome: error ? OUTCOMES[error.reason] : 'refused', isResolved: error?.code === RESOLVED }
}

const OUTCOMES: Readonly<Record<OutboundReason, AttemptResult['outcome']>> = {
  forbidden_target: 'forbidden',
  forbidden_address: 'forbidden',
  dns: 'dns',
  timeout: 'timeout',
  tls: 'tls',
  refused: 'refused',
  // Headers too large to read: treated as no answer.
  too_large: 'refused',
  status: 'refused',
  redirect: 'redirect',
}

function headersOf(
  { deliveryId, attempts }: Claim,
  { event, sequence }: Payload,
  { headers, body }: Call,
  { startedAt, signer, userAgent }: { startedAt: Date; signer: Signer; userAgent: string },
): string[] {
  const all = signedHeaders({ deliveryId, event, sequence, attempt: attempts + 1 }, body, { startedAt, signer })
  all.push('content-type', 'application/json', 'user-agent', userAgent)
  for (const name in headers) all.push(name, headers[name] ?? '')
  return all
}
