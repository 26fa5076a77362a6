/**
 * A bare webhook sender to compare with: undici posts one body with two fresh signatures, as many at a time as our worker.
 * No queue, no lease, no log, no guard. A child process: the parent sends a number of posts, and it answers with the time they took.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import { standardWebhookSecret } from '@ostiary/crypto'
import { Pool } from 'undici'

const { urls, body, key, perReceiver } = JSON.parse(process.env.POSTING ?? '') as {
  urls: string[]
  body: string
  key: string
  perReceiver: number
}
const bytes = Buffer.from(body)
const ownKey = createSecretKey(key, 'utf8')
const secret = (await standardWebhookSecret(key)).slice('whsec_'.length)
const standardKey = createSecretKey(secret, 'base64')
const pools = urls.map((url) => new Pool(new URL(url).origin, { connections: perReceiver, pipelining: 1 }))
const path = new URL(urls[0] ?? '').pathname
let sent = 0

async function post(pool: Pool): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const id = `0199b1c2-0000-7000-8000-${String(sent++).padStart(12, '0')}`
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'bare',
    'x-service-timestamp': timestamp,
    'x-service-signature': `sha256=${createHmac('sha256', ownKey).update(`${timestamp}.`).update(bytes).digest('hex')}`,
    'x-service-event': 'age.session.completed',
    'x-service-delivery': id,
    'x-service-attempt': '1',
    'x-service-sequence': '1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', standardKey).update(`${id}.${timestamp}.`).update(bytes).digest('base64')}`,
  }
  const response = await pool.request({ method: 'POST', path, headers, body: bytes })
  await response.body.dump()
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`)
}

process.on('message', ({ count }: { count: number }) => {
  const started = performance.now()
  let left = count
  const lanes = pools.flatMap((pool) =>
    Array.from({ length: perReceiver }, async () => {
      while (left-- > 0) await post(pool)
    }),
  )
  Promise.all(lanes).then(() => process.send?.({ ms: performance.now() - started }))
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })
