import { type Engine, EngineLoadError, type LoadedModels, type LoadProgress } from '../engine/engine.ts'

const PAUSES_MS = [1_000, 3_000]

export interface ModelsDeps {
  engine: Pick<Engine, 'load' | 'close'>
  wait(ms: number): Promise<void>
  /** Null when everything is loaded. */
  onProgress(progress: LoadProgress | null): void
}

/** Loads the face models, starting when the session opens and asks for a face. Retries a failed download twice. */
export function createModels({ engine, wait, onProgress }: ModelsDeps) {
  let loading: Promise<LoadedModels> | undefined

  async function load(): Promise<LoadedModels> {
    for (let failures = 0; ; failures++) {
      try {
        const models = await engine.load(onProgress)
        onProgress(null)
        return models
      } catch (error) {
        const pauseMs = PAUSES_MS[failures]
        if (!(error instanceof EngineLoadError) || pauseMs === undefined) throw error
        await wait(pauseMs)
      }
    }
  }

  return {
    /** After a failure, the next call starts loading again. */
    ready(): Promise<LoadedModels> {
      loading ??= load()
      loading.catch(() => {
        loading = undefined
      })
      return loading
    },
    /** The engine is broken: closes it, so that the next `ready()` loads another one. */
    drop(): void {
      loading = undefined
      engine.close()
    },
  }
}
export type Models = ReturnType<typeof createModels>
