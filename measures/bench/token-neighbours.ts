import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { percentile } from '@ostiary/testkit/measuring/node-bench'
import type { Host } from '@ostiary/testkit/measuring/sessions-load'
import type { TokenSite } from '@ostiary/testkit/measuring/token-site'

const LANES = 3
const PHASES = 2

export interface Waits {
  p50: number
  p99: number
}

/** How long a cheap call takes while nobody signs in, and while people sign in by token or by vector, in turns. */
export async function measureNeighbours<Kind extends string>(
  { api }: TokenSite,
  { key }: Host,
  phaseMs: number,
  signIns: Record<Kind, (n: number) => Promise<unknown>>,
): Promise<Record<'quiet' | Kind, Waits & { perSecond: number }>> {
  // A session that does not exist: the key is checked and the database is asked.
  const url = `${api().url}/v2/verification-session/00000000-0000-7000-8000-000000000000`
  const thread = new Worker(new URL('./token-neighbour-thread.ts', import.meta.url), { workerData: { url, key } })
  const call = async (ms: number): Promise<number[]> => {
    thread.postMessage(ms)
    return (await once(thread, 'message'))[0]
  }
  await call(phaseMs / 2)
  const kinds = ['quiet', ...Object.keys(signIns)] as ('quiet' | Kind)[]
  const measured = kinds.map((kind) => ({ kind, tookMs: [] as number[], done: 0 }))
  for (let phase = 0; phase < PHASES; phase++) {
    for (const one of measured) {
      const work = one.kind === 'quiet' ? undefined : signIns[one.kind]
      let isOver = false
      const lanes = Array.from({ length: work ? LANES : 0 }, async (_, lane) => {
        for (let n = lane; !isOver; n += LANES) {
          await work?.(n)
          if (!isOver) one.done++
        }
      })
      one.tookMs.push(...(await call(phaseMs)))
      isOver = true
      await Promise.all(lanes)
    }
  }
  await thread.terminate()
  return Object.fromEntries(
    measured.map(({ kind, tookMs, done }) => [
      kind,
      { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99), perSecond: (done * 1000) / (PHASES * phaseMs) },
    ]),
  ) as Record<'quiet' | Kind, Waits & { perSecond: number }>
}
