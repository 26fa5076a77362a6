import type { EmbeddingId } from '@ostiary/faces'
import type { NotedRequest } from '../ledger/ledger.ts'
import { type Engine, EngineLoadError, type EngineOutputs, type LoadProgress } from './engine.ts'
import type { EngineAnswer, EngineQuestion, FromWorker, ToWorker } from './protocol.ts'

export interface LoadedEngine {
  id: string
  hash: string
  threads: number
  /** Duration of one look with warm nets. */
  lookMs: number
}

/** The page's side of one worker. */
export interface EngineClient extends Omit<Engine, 'load'> {
  load(onProgress: (progress: LoadProgress) => void): Promise<LoadedEngine>
  /** The worker died or could not start. */
  fail(error: Error): void
  /** Stays true: only a new worker helps. */
  readonly broken: boolean
}

export interface EngineClientOptions {
  port: MessagePort
  onRequest: (request: NotedRequest) => void
  onClose: () => void
}

type Answer<Is extends EngineAnswer['is']> = Extract<EngineAnswer, { is: Is }>

const NOTHING: EngineOutputs = { ages: false, selfie: false }

interface Waiting {
  resolve(answer: EngineAnswer): void
  reject(error: Error): void
}

/** Sends questions to a worker, in which engine-host.ts answers. */
export function connectEngine({ port, onRequest, onClose }: EngineClientOptions): EngineClient {
  const waiting = new Map<number, Waiting>()
  let number = 0
  let onProgress: (progress: LoadProgress) => void = () => {}
  let failure: Error | undefined

  function fail(error: Error): void {
    failure ??= error
    for (const { reject } of waiting.values()) reject(failure)
    waiting.clear()
  }

  port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if ('progress' in data) return onProgress(data.progress)
    if ('request' in data) return onRequest(data.request)
    const { resolve } = waiting.get(data.number) ?? {}
    waiting.delete(data.number)
    resolve?.(data.answer)
  }

  async function ask<Is extends EngineAnswer['is']>(question: EngineQuestion, is: Is): Promise<Answer<Is>> {
    if (failure) {
      if ('picture' in question) question.picture.close()
      throw failure
    }
    number += 1
    const message: ToWorker = { number, ...question }
    const asked = new Promise<EngineAnswer>((resolve, reject) => waiting.set(message.number, { resolve, reject }))
    port.postMessage(message, 'picture' in question ? [question.picture] : [])
    const answer = await asked
    if (answer.is === 'failed') {
      const error = errorOf(answer)
      if (answer.broken) fail(error)
      throw error
    }
    if (!isAnswer(answer, is)) throw new Error(`The engine answered ${answer.is} to ${question.ask}`)
    return answer
  }

  return {
    get broken() {
      return failure !== undefined
    },
    fail,
    async load(listener) {
      onProgress = listener
      const { id, hash, threads, lookMs } = await ask({ ask: 'load' }, 'loaded')
      return { id, hash, threads, lookMs }
    },
    async survey(listener) {
      onProgress = listener
      await ask({ ask: 'survey' }, 'surveyed')
    },
    loadRest: async () => {
      await ask({ ask: 'load-rest' }, 'rest-loaded')
    },
    warmUp: async () => {
      await ask({ ask: 'warm-up' }, 'warm')
    },
    look: async (picture) => (await ask({ ask: 'look', picture }, 'sighting')).sighting,
    measure: async (picture) => (await ask({ ask: 'measure', picture }, 'measured')).measured,
    embed: async (embedding: EmbeddingId) => (await ask({ ask: 'embed', embedding }, 'embedding')).vector,
    selfie: async () => (await ask({ ask: 'selfie' }, 'selfie')).jpeg,
    keepFace: async () => {
      await ask({ ask: 'keep-face' }, 'face-kept')
    },
    findPortrait: async (picture, areas) => (await ask({ ask: 'find-portrait', picture, areas }, 'portrait')).sighting,
    comparePortrait: async () => (await ask({ ask: 'compare-portrait' }, 'compared')).score,
    forgetComparison: async () => {
      await ask({ ask: 'forget-comparison' }, 'comparison-forgotten')
    },
    begin: async (outputs = NOTHING) => {
      await ask({ ask: 'begin', outputs }, 'begun')
    },
    close() {
      fail(new Error('The engine was closed'))
      port.close()
      onClose()
    },
  }
}

function isAnswer<Is extends EngineAnswer['is']>(answer: EngineAnswer, is: Is): answer is Answer<Is> {
  return answer.is === is
}

function errorOf({ message, file }: Answer<'failed'>): Error {
  return file === undefined ? new Error(message) : new EngineLoadError(file, new Error(message))
}
