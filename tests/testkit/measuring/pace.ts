import { sleep } from '../run.ts'

/**
 * Starts `work` at a fixed rate, whether the earlier calls have ended or not (an open-loop load). Returns when the last call
 * has ended; throws the first error.
 */
export async function atRate(perSecond: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  const running: Promise<void>[] = []
  let failure: unknown
  for (let index = 0; index < count && failure === undefined; index++) {
    const waitMs = startedMs + (index * 1000) / perSecond - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    running.push(
      work(index).catch((error: unknown) => {
        failure ??= error
      }),
    )
  }
  await Promise.all(running)
  if (failure !== undefined) throw failure
}
