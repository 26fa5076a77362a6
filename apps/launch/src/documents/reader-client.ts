import type { LoadProgress } from '../engine/engine.ts'
import type { NotedRequest } from '../ledger/ledger.ts'
import type { DocumentReader } from './reader.ts'
import type { FromReader, ReaderAnswer, ReaderQuestion } from './reader-protocol.ts'

export interface ReaderClientOptions {
  port: MessagePort
  onRequest(request: NotedRequest): void
  onClose(): void
}

type Answer<Is extends ReaderAnswer['is']> = Extract<ReaderAnswer, { is: Is }>

/** The page's side of the channel to the reader's worker. */
export function connectReader({ port, onRequest, onClose }: ReaderClientOptions): DocumentReader & { fail(): void } {
  const waiting = new Map<number, { resolve(answer: ReaderAnswer): void; reject(error: Error): void }>()
  let asked = 0
  let broken = false
  let onProgress: (progress: LoadProgress) => void = () => {}

  function fail(): void {
    broken = true
    for (const { reject } of waiting.values()) reject(new Error('The reader of documents is broken'))
    waiting.clear()
  }

  async function ask<Is extends ReaderAnswer['is']>(
    question: ReaderQuestion,
    is: Is,
    transfer: Transferable[] = [],
  ): Promise<Answer<Is>> {
    if (broken) throw new Error('The reader of documents is closed')
    const number = ++asked
    const answer = await new Promise<ReaderAnswer>((resolve, reject) => {
      waiting.set(number, { resolve, reject })
      port.postMessage({ number, ...question }, transfer)
    })
    if (!isAnswer(answer, is)) throw new Error('The reader of documents failed')
    return answer
  }

  port.onmessage = ({ data }: MessageEvent<FromReader>) => {
    if ('progress' in data) return onProgress(data.progress)
    if ('request' in data) return onRequest(data.request)
    waiting.get(data.number)?.resolve(data.answer)
    waiting.delete(data.number)
  }

  return {
    async load(choice, report) {
      onProgress = report
      await ask({ ask: 'load', choice }, 'loaded')
    },
    async begin(wanted) {
      await ask({ ask: 'begin', wanted }, 'begun')
    },
    look: async (picture, side) => (await ask({ ask: 'look', picture, side }, 'look', [picture])).look,
    isPasted: async (face) => (await ask({ ask: 'pasted', face }, 'pasted')).isPasted,
    close() {
      fail()
      port.close()
      onClose()
    },
    fail,
  }
}

function isAnswer<Is extends ReaderAnswer['is']>(answer: ReaderAnswer, is: Is): answer is Answer<Is> {
  return answer.is === is
}
