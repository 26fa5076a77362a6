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
import { createSigning, type Signer, type SigningDeps } from './signer.ts'

export interface PostDeps extends SigningDeps {
  clock: Clock
  vault: KeyVault
  outbound: PooledOutbound
  version: string
}

/** The result of an attempt, or the reason why no attempt can ever be made. */
export type PostResult = ({ startedAt: Date; durationMs: number } & AttemptResult) | { impossible: DeadReason }

/**
 * Signs a message and posts it to its receiver, with the one-time body if there is one. Throws when the failure is ours (a key
 * or the vault): then nothing was sent.
 */
export function createPost({ clock, vault, outbound, version, ...signing }: PostDeps) {
  const signerOf = createSigning(signing)
  const open = createMessageOpener(vault)
  const userAgent = `Ostiary/${version}`

  async function request({ tenantId, livemode }: Claim, call: Call, headers: string[]): Promise<AttemptResult> {
    try {
      const { status, retryAfter } = await outbound.post({
        owner: tenantId,
        url: call.url,
        allowHttp: !livemode,
        headers,
        body: call.body,
      })
      return attemptResultOf(status, retryAfter, clock.now())
    } catch (error) {
      // The address that a name resolves to can change between attempts, so such a refusal is not final. A forbidden URL is.
      if (error instanceof OutboundError)
        return { outcome: OUTCOMES[error.reason], isResolved: error.code === RESOLVED }
      throw error
    }
  }

  async function withOnce(call: Call, { tenantId, deliveryId }: Claim, once: Sealed): Promise<Call> {
    return { ...call, body: await open(once, onceContext(tenantId, deliveryId)) }
  }

  return async (claim: Claim, payload: Payload, once?: Sealed): Promise<PostResult> => {
    const now = clock.now()
    if (payload.purgeAtMs <= now.getTime()) return { impossible: 'retention' }
    if (claim.failNext > 0 && !claim.livemode) return { startedAt: now, durationMs: 0, outcome: 'sandbox' }
    const found = signerOf(claim, payload)
    const signer = found instanceof Promise ? await found : found
    if (signer === 'key_removed') return { impossible: signer }
    if (signer === 'unsigned') return { startedAt: now, durationMs: 0, outcome: signer }
    const opened = open(payload, sealContext(claim.tenantId, claim.deliveryId))
    const usual = unpackCall(opened instanceof Promise ? await opened : opened)
    const call = once ? await withOnce(usual, claim, once) : usual
    // Read when the attempt begins: each attempt has its own time and signature.
    const startedAt = clock.now()
    const startedMs = clock.monotonicMs()
    const result = await request(claim, call, headersOf(claim, payload, call, { startedAt, signer, userAgent }))
    return { startedAt, durationMs: Math.round(clock.monotonicMs() - startedMs), ...result }
  }
}
export type Post = ReturnType<typeof createPost>

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
