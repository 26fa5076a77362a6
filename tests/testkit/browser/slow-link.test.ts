import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { startSlowLink } from './slow-link.ts'

const CONTENT = 'x'.repeat(60_000)

test('all connections share the rate of the line, and a service that closes at once loses no byte', async (t) => {
  const service = createServer((_request, response) => response.writeHead(200, { connection: 'close' }).end(CONTENT))
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const address = service.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const link = await startSlowLink(`http://127.0.0.1:${port}`, { bitsPerSecond: 2_400_000, latencyMs: 20 })
  t.after(async () => {
    await link.stop()
    service.close()
  })
  const startedMs = performance.now()
  const texts = await Promise.all([1, 2, 3].map(async () => (await fetch(link.url)).text()))
  const tookMs = performance.now() - startedMs
  assert.ok(texts.every((text) => text === CONTENT))
  assert.ok(link.bytesIn() >= 3 * CONTENT.length)
  // 180 KB at 300 KB/s. The line may be slower on a busy machine, and never faster.
  assert.ok(tookMs >= 580, `${tookMs} ms`)
})
