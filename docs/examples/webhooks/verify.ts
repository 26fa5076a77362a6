/**
 * A receiver of Ostiary's webhooks in TypeScript, without dependencies: Node 24 runs it as it is.
 *
 *   OSTIARY_API_KEY=ost_test_… PORT=9000 node docs/examples/webhooks/verify.ts
 *
 * With OSTIARY_WEBHOOK_KEYS=keys.json, a saved /.well-known/ostiary-webhook-keys/….json, it demands the signature of the key pair instead.
 *
 * Copy `verifyWebhook` or `verifyKeyPair`; the server below only shows how to get at the raw body.
 */
import { createHmac, createPublicKey, type JsonWebKey, timingSafeEqual, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface Received {
  /** The header X-Service-Timestamp; for `verifyKeyPair` webhook-timestamp. */
  timestamp: string | undefined
  /** The header X-Service-Signature; for `verifyKeyPair` webhook-signature. */
  signature: string | undefined
  /** The bytes as they came. JSON that was parsed and written again is another text. */
  rawBody: Uint8Array
}

/** Whether the holder of the API key sent this webhook, and it is not older than allowed. Without a window any age will do. */
export function verifyWebhook(
  apiKey: string,
  { timestamp, signature, rawBody }: Received,
  window?: { nowSeconds: number; toleranceSeconds: number },
): boolean {
  if (apiKey === '' || timestamp === undefined || !/^\d{1,15}$/.test(timestamp)) return false
  const given = /^sha256=([0-9a-f]{64})$/.exec(signature ?? '')?.[1]
  if (given === undefined) return false
  const expected = createHmac('sha256', apiKey).update(`${timestamp}.`).update(rawBody).digest()
  // Not ===, which answers sooner the earlier the texts differ.
  if (!timingSafeEqual(expected, Buffer.from(given, 'hex'))) return false
  return !window || Math.abs(window.nowSeconds - Number(timestamp)) <= window.toleranceSeconds
}

/** Whether one of these keys signed this webhook. The API key cannot make such a signature. Without a window any age will do. */
export function verifyKeyPair(
  keys: readonly JsonWebKey[],
  { id, timestamp, signature, rawBody }: Received & { id: string | undefined },
  window?: { nowSeconds: number; toleranceSeconds: number },
): boolean {
  if (!/^[\w-]{1,100}$/.test(id ?? '') || !/^\d{1,15}$/.test(timestamp ?? '')) return false
  if (window && Math.abs(window.nowSeconds - Number(timestamp)) > window.toleranceSeconds) return false
  const message = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), rawBody])
  // Other signatures in the header, such as v1, count for nothing.
  const given = (signature ?? '')
    .split(' ')
    .filter((one) => /^v1a,[A-Za-z0-9+/]{86}==$/.test(one))
    .slice(0, 8)
  return keys.some((jwk) => {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    return given.some((one) => verify(null, message, key, Buffer.from(one.slice('v1a,'.length), 'base64')))
  })
}

if (import.meta.main) {
  const apiKey = process.env.OSTIARY_API_KEY ?? ''
  const keysFile = process.env.OSTIARY_WEBHOOK_KEYS
  const keys = keysFile === undefined ? undefined : JSON.parse(readFileSync(keysFile, 'utf8')).keys
  const toleranceSeconds = Number(process.env.TOLERANCE_SECONDS ?? 300)
  const server = createServer(async (request, response) => {
    const rawBody = await buffer(request)
    const header = (name: string) => [request.headers[name]].flat()[0]
    const received = { timestamp: header('x-service-timestamp'), signature: header('x-service-signature'), rawBody }
    // 0 switches the window off.
    const window = toleranceSeconds > 0 ? { nowSeconds: Date.now() / 1000, toleranceSeconds } : undefined
    const [id, signed] = [header('webhook-id'), header('webhook-signature')]
    const isGenuine = keys
      ? verifyKeyPair(keys, { id, timestamp: header('webhook-timestamp'), signature: signed, rawBody }, window)
      : verifyWebhook(apiKey, received, window)
    if (!isGenuine) {
      response.writeHead(401).end()
      return
    }
    // Answer first and work later: after 10 seconds the delivery counts as failed. It can come twice: remember its id.
    response.writeHead(204).end()
    // Both areas have these two fields.
    const { outcome, status } = JSON.parse(rawBody.toString())
    console.log(`${header('x-service-event')} ${header('x-service-delivery')} ${outcome} ${status}`)
  })
  server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1')
}
