import type { FaceEngine, Measured, Picture } from '@ostiary/faces'
import type { NotedRequest } from '../ledger/ledger.ts'
import { EngineLoadError, type LoadProgress } from './engine.ts'
import { createIdleWork } from './idle-work.ts'
import type { EngineAnswer, FromWorker, ToWorker } from './protocol.ts'

export interface StartedFaces {
  engine: Pick<
    FaceEngine,
    'look' | 'measure' | 'embed' | 'keepFace' | 'findPortrait' | 'comparePortrait' | 'forgetComparison' | 'begin'
  >
  id: string
  hash: string
  threads: number
  lookMs: number
  /** Fetches what measuring needs besides. */
  loadRest(): Promise<void>
  /** Starts one net that was fetched, and returns false when every fetched net runs. It never rejects; `warmUp` does. */
  warmNext(): Promise<boolean>
  /** Gets all of them ready. */
  warmUp(): Promise<void>
}

export interface EngineHostOptions {
  port: MessagePort
  /** Reports the sizes of all files as progress. */
  survey(report: EngineReport): Promise<void>
  /** Loads everything that looking needs. Called again after a failure that is not final. */
  start(report: EngineReport): Promise<StartedFaces>
  /** Reads a bitmap's pixels; the bitmap is closed afterwards. */
  pixelsOf(bitmap: ImageBitmap): Picture
  /** A picture as a JPEG that is small enough to be sent. */
  jpegOf(picture: Picture): Promise<Uint8Array<ArrayBuffer>>
}

export interface EngineReport {
  progress(progress: LoadProgress): void
  request(request: NotedRequest): void
  /** A file came that measuring needs: its net can be made when there is time. */
  fetched(): void
}

interface KeptSelfie {
  score: number
  picture: Picture | null
}

/** Longer than the page takes from one look to the next. */
const IDLE_MS = 400

/** The nets are loaded but do not run: this worker is broken for good. */
export class RuntimeBrokenError extends EngineLoadError {}

/** The worker's side of the channel. Answers one question at a time: nets cannot run in parallel. */
export function serveEngine({ port, survey, start, pixelsOf, jpegOf }: EngineHostOptions): void {
  let faces: StartedFaces | undefined
  let selfie: KeptSelfie | null = null
  let last: Promise<void> = Promise.resolve()
  const post = (message: FromWorker, transfer: Transferable[] = []) => port.postMessage(message, transfer)
  const report: EngineReport = {
    progress: (progress) => post({ progress }),
    request: (request) => post({ request }),
    fetched: () => idle.more(),
  }
  /** Does this after everything that was asked before. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.then(
      () => {},
      () => {},
    )
    return done
  }
  const idle = createIdleWork({
    idleMs: IDLE_MS,
    work: () => enqueue(async () => (await faces?.warmNext()) ?? false),
  })

  async function answerTo(question: ToWorker): Promise<EngineAnswer> {
    if (question.ask === 'survey') {
      await survey(report)
      return { is: 'surveyed' }
    }
    if (question.ask === 'load') {
      faces ??= await start(report)
      const { id, hash, threads, lookMs } = faces
      return { is: 'loaded', id, hash, threads, lookMs }
    }
    if (!faces) throw new Error('Nothing is loaded yet')
    switch (question.ask) {
      case 'load-rest':
        await faces.loadRest()
        return { is: 'rest-loaded' }
      case 'warm-up':
        await faces.warmUp()
        return { is: 'warm' }
      case 'look':
        return { is: 'sighting', sighting: await faces.engine.look(take(question.picture)) }
      case 'measure':
        return { is: 'measured', measured: await measure(faces, take(question.picture)) }
      case 'embed':
        return { is: 'embedding', vector: await faces.engine.embed(question.embedding) }
      case 'selfie': {
        const picture = selfie?.picture
        selfie = null
        if (!picture) throw new Error('No picture was kept')
        return { is: 'selfie', jpeg: await jpegOf(picture) }
      }
      case 'keep-face':
        faces.engine.keepFace()
        return { is: 'face-kept' }
      case 'find-portrait':
        return {
          is: 'portrait',
          sighting: await faces.engine.findPortrait(take(question.picture), question.areas),
        }
      case 'compare-portrait':
        return { is: 'compared', score: faces.engine.comparePortrait() }
      case 'forget-comparison':
        faces.engine.forgetComparison()
        return { is: 'comparison-forgotten' }
      case 'begin':
        faces.engine.begin(question.outputs)
        selfie = question.outputs.selfie ? { score: -1, picture: null } : null
        return { is: 'begun' }
    }
  }

  /** Keeps the picture of the sample that the feature vector comes from: the best one, and the first of equals. */
  async function measure({ engine }: StartedFaces, picture: Picture): Promise<Measured | null> {
    const measured = await engine.measure(picture)
    const score = measured?.face.quality.score ?? -1
    if (selfie && score > selfie.score) selfie = { score, picture }
    return measured
  }

  function take(bitmap: ImageBitmap): Picture {
    try {
      return pixelsOf(bitmap)
    } finally {
      bitmap.close()
    }
  }

  port.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
    const answering = () => answerTo(data).catch(failed)
    // A download takes no part in the nets' turns: looks go on meanwhile.
    if (data.ask === 'load-rest') return post({ number: data.number, answer: await answering() })
    idle.asked()
    const answer = await enqueue(answering)
    post({ number: data.number, answer })
    idle.answered()
  }
}

function failed(error: unknown): EngineAnswer {
  if (!(error instanceof EngineLoadError)) return { is: 'failed', message: textOf(error) }
  const message = textOf(error.cause ?? error)
  return { is: 'failed', message, file: error.file, broken: error instanceof RuntimeBrokenError }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
