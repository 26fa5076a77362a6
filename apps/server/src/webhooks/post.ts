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

/** An attempt that was made. */
export type Posted = { startedAt: Date; durationMs: number } & AttemptResult
/** The reason why no attempt can ever be made. */
export interface Impossible {
  impossible: DeadReason
}

interface Ready {
  call: Call
  signer: Signer
}

/** Opens a message, signs it and posts it to its receiver. */
export function createPost({ clock, vault, outbound, version, ...signing }: PostDeps) {
  const signerOf = createSigning(signing)
  const open = createMessageOpener(vault)
  const userAgent = `Ostiary/${version}`

  async function openCall({ tenantId, deliveryId }: Claim, payload: Payload, once: Sealed | undefined): Promise<Call> {
    const call = unpackCall(await open(payload, sealContext(tenantId, deliveryId)))
    return once ? { ...call, body: await open(once, onceContext(tenantId, deliveryId)) } : call
  }

  async function send(claim: Claim, payload: Payload, { call, signer }: Ready): Promise<Posted> {
    const startedAt = clock.now()
    const startedMs = clock.monotonicMs()
    // Each attempt has its own time and signature.
    const headers = headersOf(claim, payload, call, { startedAt, signer, userAgent })
    const request = { owner: claim.tenantId, url: call.url, allowHttp: !claim.livemode, headers, body: call.body }
    const result = await outbound
      .post(request)
      .then(({ status, retryAfter }) => attemptResultOf(status, retryAfter, clock.now()), failureOf)
    return { startedAt, durationMs: Math.round(clock.monotonicMs() - startedMs), ...result }
  }

  /**
   * One attempt, with the one-time body if there is one. Rejects when the failure is ours (a key or the vault): then nothing was sent.
   */
  return async (claim: Claim, payload: Payload, once: Sealed | undefined): Promise<Posted | Impossible> => {
    const now = clock.now()
    if (payload.purgeAtMs <= now.getTime()) return { impossible: 'retention' }
    if (claim.failNext > 0 && !claim.livemode) return { startedAt: now, durationMs: 0, outcome: 'sandbox' }
    const signer = await signerOf(claim, payload)
    if (signer === 'key_removed') return { impossible: signer }
    if (signer === 'unsigned') return { startedAt: now, durationMs: 0, outcome: signer }
    return send(claim, payload, { call: await openCall(claim, payload, once), signer })
  }
}

/** The address that a name resolves to can change between attempts, so such a refusal is not final. A forbidden URL is. */
function failureOf(error: unknown): AttemptResult {
  if (!(error instanceof OutboundError)) throw error
  return { outcome: OUTCOMES[error.reason], isResolved: error.code === RESOLVED }
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
