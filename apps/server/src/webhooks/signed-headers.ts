import type { Signer } from './signer.ts'

/** What the headers say about a message. */
export interface SignedFacts {
  deliveryId: string
  event: string
  sequence: number
  attempt: number
}

/** The headers `X-Service-*` and `webhook-*` of one attempt: name, value, name, value. Without signatures where no key may sign. */
export function signedHeaders(
  { deliveryId, event, sequence, attempt }: SignedFacts,
  body: Buffer,
  { startedAt, signer }: { startedAt: Date; signer: Signer | undefined },
): string[] {
  const timestamp = String(Math.floor(startedAt.getTime() / 1000))
  const signatures = signer?.(deliveryId, timestamp, body)
  const all = ['x-service-timestamp', timestamp]
  if (signatures) all.push('x-service-signature', signatures.own, 'x-service-key', signatures.keys)
  all.push(
    'x-service-event',
    event,
    'x-service-delivery',
    deliveryId,
    'x-service-attempt',
    String(attempt),
    'x-service-sequence',
    String(sequence),
    'webhook-id',
    deliveryId,
    'webhook-timestamp',
    timestamp,
  )
  if (signatures) all.push('webhook-signature', signatures.standard)
  return all
}
