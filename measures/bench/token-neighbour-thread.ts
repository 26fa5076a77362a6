/** Makes cheap calls at a fixed rate and posts how long each took. In a thread of its own: the devices of the benchmark do not delay it. */
import { parentPort, workerData } from 'node:worker_threads'
import { atRate } from '@ostiary/testkit/measuring/pace'

const PER_SECOND = 50
const { url, key } = workerData as { url: string; key: string }

parentPort?.on('message', async (ms: number) => {
  const tookMs: number[] = []
  await atRate(PER_SECOND, (PER_SECOND * ms) / 1000, async () => {
    const startMs = performance.now()
    const response = await fetch(url, { headers: { 'x-api-key': key } })
    await response.arrayBuffer()
    tookMs.push(performance.now() - startMs)
  })
  parentPort?.postMessage(tookMs)
})
