import { type Engine, EngineLoadError, type LoadedModels, type LoadProgress } from '../engine/engine.ts'
import { createLoadEstimate } from './load-estimate.ts'

const PAUSES_MS = [1_000, 3_000]
/** The camera starts this long before it is needed. */
const NEAR_SECONDS = 10

/** `look`: what guidance needs. `all`: what the movements need besides. */
export type ModelPart = 'look' | 'all'

/** Progress of what has to come next. */
export interface Loading {
  loadedBytes: number
  totalBytes: number
  /** Undefined while the rate is not known. */
  secondsLeft?: number | undefined
}

/** Everything that the page downloads for the face. */
export interface Download {
  bytes: number
  /** How long all of it takes; undefined while the rate is not known. */
  seconds?: number | undefined
}

export interface ModelsDeps {
  engine: Pick<Engine, 'survey' | 'load' | 'loadRest' | 'close'>
  wait(ms: number): Promise<void>
  nowMs(): number
  /** `loading` is null when everything is loaded. */
  onProgress(loading: Loading | null, download: Download): void
}

/**
 * Loads the face models: first what guidance needs, then the rest. Starts when the session opens and asks for a face, or, for users who save
 * data, when they have agreed. Retries a failed download twice.
 */
export function createModels({ engine, wait, nowMs, onProgress }: ModelsDeps) {
  let looking: Promise<LoadedModels> | undefined
  let measuring: Promise<void> | undefined
  let there: ModelPart | null = null
  let left: Record<ModelPart, Loading> | undefined
  const estimate = createLoadEstimate(nowMs)
  const watchers = new Set<() => void>()

  function note({ loadedBytes, totalBytes, rest = { loadedBytes: 0, totalBytes: 0 } }: LoadProgress): void {
    const all = { loadedBytes: loadedBytes + rest.loadedBytes, totalBytes: totalBytes + rest.totalBytes }
    estimate.note(all.loadedBytes)
    left = { look: { loadedBytes, totalBytes }, all }
    show()
  }

  function secondsUntil(part: ModelPart): number | undefined {
    return left && estimate.secondsFor(left[part].totalBytes - left[part].loadedBytes)
  }

  function show(): void {
    const next = there === null ? 'look' : 'all'
    const bytes = left?.all.totalBytes ?? 0
    if (left)
      onProgress(there === 'all' ? null : { ...left[next], secondsLeft: secondsUntil(next) }, {
        bytes,
        seconds: estimate.secondsFor(bytes),
      })
    else if (there === 'all') onProgress(null, { bytes })
    for (const watcher of watchers) watcher()
  }

  function arrived(part: ModelPart): void {
    there = part
    show()
  }

  async function retried<T>(load: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await load()
      } catch (error) {
        const pauseMs = PAUSES_MS[failures]
        if (!(error instanceof EngineLoadError) || pauseMs === undefined) throw error
        await wait(pauseMs)
      }
    }
  }

  const isThere = (part: ModelPart) => there === 'all' || there === part
  const isNear = (part: ModelPart) => isThere(part) || (secondsUntil(part) ?? Number.POSITIVE_INFINITY) <= NEAR_SECONDS

  /** What guidance needs. After a failure, the next call starts loading again. */
  function ready(): Promise<LoadedModels> {
    if (looking) return looking
    const coming = retried(() => engine.load(note))
    looking = coming
    coming.then(
      () => {
        if (looking !== coming) return
        arrived('look')
        complete().catch(() => {})
      },
      () => {
        if (looking === coming) looking = undefined
      },
    )
    return coming
  }

  /** What the movements need besides. After a failure, the next call fetches what is missing. */
  function complete(): Promise<void> {
    if (measuring) return measuring
    const coming = ready().then(() => retried(() => engine.loadRest()))
    measuring = coming
    coming.then(
      () => {
        if (measuring === coming) arrived('all')
      },
      () => {
        if (measuring === coming) measuring = undefined
      },
    )
    return coming
  }

  return {
    ready,
    complete,
    /** Finds out what has to be downloaded, and downloads none of it. */
    survey: () => engine.survey(note),
    isThere,
    isNear,
    /** Resolves when this part is there or will be in some seconds. Rejects when it cannot be loaded, and when the signal aborts. */
    near: (part: ModelPart, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!isNear(part)) return
          watchers.delete(check)
          resolve()
        }
        const fail = (error: unknown) => {
          watchers.delete(check)
          reject(error)
        }
        watchers.add(check)
        signal.addEventListener('abort', () => fail(signal.reason), { once: true })
        const loading: Promise<unknown> = part === 'look' ? ready() : complete()
        loading.then(check, fail)
        check()
      }),
    /** The engine is broken: closes it, so that the next `ready()` loads another one. */
    drop(): void {
      looking = undefined
      measuring = undefined
      there = null
      left = undefined
      engine.close()
    },
  }
}
export type Models = ReturnType<typeof createModels>
