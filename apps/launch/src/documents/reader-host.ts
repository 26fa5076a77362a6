import type { Picture } from '@ostiary/documents'
import type { LoadProgress } from '../engine/engine.ts'
import type { NotedRequest } from '../ledger/ledger.ts'
import type { DocumentChoice } from './document-types.ts'
import type { DocumentLook, WantedDocument } from './reader.ts'
import type { FromReader, ReaderAnswer, ToReader } from './reader-protocol.ts'
import { createReading, type ReadingTools } from './reading.ts'

export interface ReaderHostOptions {
  port: MessagePort
  /** Loads what a choice needs. Called again after a failure. */
  load(choice: DocumentChoice, report: ReaderReport): Promise<ReadingTools>
  /** Reads a bitmap's pixels, and leaves the bitmap open. */
  pixelsOf(bitmap: ImageBitmap): Picture
}

export interface ReaderReport {
  progress(progress: LoadProgress): void
  request(request: NotedRequest): void
}

/** The worker's side of the channel. Answers one question at a time. An error goes out without its text: that could quote a document. */
export function serveReader({ port, load, pixelsOf }: ReaderHostOptions): void {
  let tools: ReadingTools | undefined
  let reading: ReturnType<typeof createReading> | undefined
  let last: Promise<void> = Promise.resolve()
  const post = (message: FromReader, transfer: Transferable[] = []) => port.postMessage(message, transfer)
  const report: ReaderReport = {
    progress: (progress) => post({ progress }),
    request: (request) => post({ request }),
  }

  async function answerTo(question: ToReader): Promise<ReaderAnswer> {
    if (question.ask === 'load') {
      tools = await load(question.choice, report)
      return { is: 'loaded' }
    }
    if (question.ask === 'begin') {
      reading = createReading(question.wanted satisfies WantedDocument, tools ?? missing())
      return { is: 'begun' }
    }
    if (question.ask === 'pasted') return { is: 'pasted', isPasted: (reading ?? missing()).isPasted(question.face) }
    return { is: 'look', look: await lookAt(question) }
  }

  async function lookAt({ picture, side }: Extract<ToReader, { ask: 'look' }>): Promise<DocumentLook> {
    let isWanted = false
    try {
      const { areas, ...look } = await (reading ?? missing()).look(pixelsOf(picture), side)
      isWanted = areas !== undefined
      return { ...look, ...(areas && { portrait: { picture, areas } }) }
    } finally {
      if (!isWanted) picture.close()
    }
  }

  port.onmessage = ({ data }: MessageEvent<ToReader>) => {
    last = last.then(async () => {
      const answer = await answerTo(data).catch((): ReaderAnswer => ({ is: 'failed' }))
      const picture = answer.is === 'look' ? answer.look.portrait?.picture : undefined
      post({ number: data.number, answer }, picture ? [picture] : [])
    })
  }
}

function missing(): never {
  throw new Error('Nothing is loaded yet')
}
