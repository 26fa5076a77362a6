import { predictBody } from '@ostiary/testkit/measuring/node-bench'
import { sleep } from '@ostiary/testkit/run'

/** Repeats an enrolment until it is acknowledged, like a client that never gives up. */
export async function enrolForSure(
  url: () => string,
  key: string,
  vector: Float64Array,
  onFailure: () => void = () => {},
): Promise<string> {
  const giveUpAt = Date.now() + 180_000
  for (;;) {
    if (Date.now() > giveUpAt) throw new Error('An enrolment was not acknowledged within three minutes')
    try {
      const answer = await post(`${url()}/node/plainEnroll`, key, vector)
      if (answer.http === 200) return answer.puid
      if (answer.http !== 500) throw new RangeError(`An enrolment was answered ${answer.http} ${answer.message}`)
    } catch (error) {
      if (error instanceof RangeError) throw error
    }
    onFailure()
    await sleep(30)
  }
}

export async function post(
  url: string,
  key: string,
  vector: Float64Array,
): Promise<{ http: number; status: number; message: string; puid: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: predictBody(vector),
    signal: AbortSignal.timeout(60_000),
  })
  return { http: response.status, ...((await response.json()) as { status: number; message: string; puid: string }) }
}

/** Runs `work` for 0 to `count` - 1 with so many at a time. */
export async function inParallel(
  count: number,
  workers: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (next < count) await work(next++)
    }),
  )
}
