/** The worker that reads documents. Pictures come in; facts and guidance go out. Names, numbers and dates stay here. */
import { acceptReads, BARCODE_TURNS, findBarcode, lookForZone, readerIdentity, readFrame } from '@ostiary/documents'
import { createModelFiles, type PinnedFile } from '../engine/model-files.ts'
import { pixelReader } from '../engine/pixel-reader.ts'
import { watchTimeline } from '../ledger/timeline.ts'
import { createBarcodeDecoder } from './barcode-decoder.ts'
import { isPasted, pictureHints } from './picture-hints.ts'
import { type ReaderReport, serveReader } from './reader-host.ts'
import type { ReaderSetup } from './reader-protocol.ts'
import type { ReadingTools } from './reading.ts'

declare const BARCODE_READER: PinnedFile

addEventListener('message', ({ data, ports: [port] }: MessageEvent<ReaderSetup>) => {
  if (port) serveReader({ port, pixelsOf: pixelReader(), load: loader(data) })
})

function loader({ baseUrl }: ReaderSetup): (choice: string, report: ReaderReport) => Promise<ReadingTools> {
  let report: ReaderReport | undefined
  watchTimeline((request) => report?.request(request), { includeFetch: true })
  const files = createModelFiles({
    baseUrl,
    fetch: (url, options) => fetch(url, options),
    onProgress: (progress) => report?.progress(progress),
  })
  const decode = createBarcodeDecoder(() => files.get(BARCODE_READER))
  let turns: readonly number[] = BARCODE_TURNS
  return async (choice, to) => {
    report = to
    if (choice === 'licence') {
      await files.expect([BARCODE_READER])
      // An empty picture loads and starts the decoder now, so that a failure shows before the camera does.
      await decode({ width: 1, height: 1, data: new Uint8ClampedArray(4) })
    }
    return {
      identity: await readerIdentity(),
      readMrz: readFrame,
      acceptReads,
      lookForZone,
      async findBarcode(picture) {
        const found = await findBarcode(picture, decode, turns)
        // A hand keeps its angle for a while.
        if (found) turns = [...new Set([found.turnDegrees, ...BARCODE_TURNS])]
        return found?.text
      },
      hintsOf: pictureHints,
      isPasted,
    }
  }
}
