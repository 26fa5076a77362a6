import { randomUUID } from 'node:crypto'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { sleep } from '@ostiary/testkit/run'

/** What a client that never gives up achieved: every acknowledged create, by the client's own number. */
interface CreateRun {
  /** Number of the create to the id it was acknowledged with. */
  acknowledged: Map<number, string>
  /** The number of 503 answers and broken connections. */
  failures: number
  valueOf(index: number): string
}

interface Options {
  baseUrl: string
  apiKey: string
  count: number
  workers: number
  onAcknowledged(total: number): void
}

/**
 * Creates `count` strings with several workers. A create that fails is sent again with the same Idempotency-Key until
 * it is acknowledged, so that afterwards exactly `count` records must exist.
 */
async function createMany({ baseUrl, apiKey, count, workers, onAcknowledged }: Options): Promise<CreateRun> {
  const run = randomUUID()
  const result: CreateRun = { acknowledged: new Map(), failures: 0, valueOf: (index) => `${run} ${index}` }
  const giveUpAt = Date.now() + 180_000
  let next = 0

  async function createOne(index: number): Promise<void> {
    for (;;) {
      if (Date.now() > giveUpAt) throw new Error(`Create ${index} was not acknowledged within three minutes`)
      try {
        const response = await fetch(`${baseUrl}/strings`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'idempotency-key': `${run}/${index}` },
          body: JSON.stringify({ value: result.valueOf(index) }),
          signal: AbortSignal.timeout(15_000),
        })
        if (response.status === 201) {
          const { id } = (await response.json()) as { id: string }
          result.acknowledged.set(index, id)
          onAcknowledged(result.acknowledged.size)
          return
        }
        if (response.status !== 503) throw new RangeError(`Create ${index} was answered ${response.status}`)
      } catch (error) {
        if (error instanceof RangeError) throw error
      }
      result.failures++
      await sleep(20)
    }
  }

  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (next < count) await createOne(next++)
    }),
  )
  return result
}

/** Reads every acknowledged record again and counts what is missing, wrong or double. */
async function verifyCreates(
  baseUrl: string,
  apiKey: string,
  run: CreateRun,
): Promise<{ lost: number; duplicates: number; stored: number }> {
  const stored = new Map<string, string>()
  let cursor: string | null = null
  do {
    const response: Response = await fetch(`${baseUrl}/strings?limit=200${cursor ? `&cursor=${cursor}` : ''}`, {
      headers: { 'x-api-key': apiKey },
    })
    if (!response.ok) throw new Error(`The list was answered ${response.status}`)
    const page = (await response.json()) as { items: { id: string; value: string }[]; nextCursor: string | null }
    for (const { id, value } of page.items) stored.set(id, value)
    cursor = page.nextCursor
  } while (cursor)
  const lost = [...run.acknowledged].filter(([index, id]) => stored.get(id) !== run.valueOf(index)).length
  return { lost, duplicates: stored.size - new Set(stored.values()).size, stored: stored.size }
}

interface KillDrill {
  name: string
  full: boolean
  apiKey: string
  /** The address of the API now; it may be another process after a kill. */
  baseUrl(): string
  /** Kills something without warning, brings it back, and resolves when it is back. */
  killAndRestart(acknowledged: number): Promise<void>
  say(text: string): void
}

/** Kills several times in the middle of many creates, and counts acknowledged records that are missing. */
export async function killWhileCreating({
  name,
  full,
  apiKey,
  baseUrl,
  killAndRestart,
  say,
}: KillDrill): Promise<Figure[]> {
  const [count, kills] = full ? [10_000, 10] : [1_000, 3]
  let killed = 0
  let restarting = Promise.resolve()
  const run = await createMany({
    baseUrl: baseUrl(),
    apiKey,
    count,
    workers: 8,
    onAcknowledged(total) {
      if (killed === kills || total < ((killed + 1) * count) / (kills + 1)) return
      killed++
      restarting = restarting.then(() => killAndRestart(total))
    },
  })
  await restarting
  const { lost, duplicates, stored } = await verifyCreates(baseUrl(), apiKey, run)
  say(
    `${run.acknowledged.size} acknowledged, ${stored} stored, ${run.failures} calls failed on the way and were repeated`,
  )
  return [
    { name: `${name}.kills`, value: killed, floor: kills, is: 'least' },
    { name: `${name}.acknowledged`, value: run.acknowledged.size, floor: count, is: 'least' },
    { name: `${name}.lost`, value: lost, floor: 0, is: 'most' },
    { name: `${name}.duplicates`, value: duplicates, floor: 0, is: 'most' },
  ]
}
