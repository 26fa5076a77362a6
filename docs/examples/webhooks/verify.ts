/**
 * A receiver of Ostiary's webhooks in TypeScript, without dependencies: Node 24 runs it as it is.
 *
 *   OSTIARY_API_KEY=ost_test_… PORT=9000 node docs/examples/webhooks/verify.ts
 *
 * Copy `verifyWebhook`; the server below only shows how to get at the raw body.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface Received {
  /** The header X-Service-Timestamp. */
  timestamp: string | undefined
  /** The header X-Service-Signature. */
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

if (import.meta.main) {
  const apiKey = process.env.OSTIARY_API_KEY ?? ''
  const toleranceSeconds = Number(process.env.TOLERANCE_SECONDS ?? 300)
  const server = createServer(async (request, response) => {
    const rawBody = await buffer(request)
    const header = (name: string) => [request.headers[name]].flat()[0]
    const received = { timestamp: header('x-service-timestamp'), signature: header('x-service-signature'), rawBody }
    // 0 switches the window off.
    const window = toleranceSeconds > 0 ? { nowSeconds: Date.now() / 1000, toleranceSeconds } : undefined
    if (!verifyWebhook(apiKey, received, window)) {
      response.writeHead(401).end()
      return
    }
    // Answer first and work later: after 10 seconds the delivery counts as failed. It can come twice: remember its id.
    response.writeHead(204).end()
    const { flowStatus, sessionStatus } = JSON.parse(rawBody.toString())
    console.log(`${header('x-service-event')} ${header('x-service-delivery')} ${flowStatus} ${sessionStatus}`)
  })
  server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1')
}
