/** What tesseract.js reads in the same frames, with its general English net. It gets more help than our reader: the zone, cut out. */
import { fileURLToPath } from 'node:url'
import { MRZ_CHARACTERS, MRZ_FORMATS } from '@ostiary/documents'
import type { LevelNumber, Photograph } from '@ostiary/models/drawn-documents/photograph'
import { createWorker, OEM, PSM } from 'tesseract.js'
import { drawTrial } from './trial.ts'
import { formatShare } from './wilson.ts'

const PER_FORMAT = 2

export async function compareWithTesseract({ seed, say }: { seed: number; say(text: string): void }): Promise<void> {
  const worker = await createWorker('eng', OEM.LSTM_ONLY, {
    langPath: fileURLToPath(new URL('4.0.0_best_int', import.meta.resolve('@tesseract.js-data/eng'))),
    cacheMethod: 'none',
  })
  try {
    await worker.setParameters({ tessedit_char_whitelist: MRZ_CHARACTERS, tessedit_pageseg_mode: PSM.SINGLE_BLOCK })
    for (const level of [1, 2, 3] as const) say(await compareLevel(worker, level, seed))
  } finally {
    await worker.terminate()
  }
}

async function compareLevel(
  worker: Awaited<ReturnType<typeof createWorker>>,
  level: LevelNumber,
  seed: number,
): Promise<string> {
  let [exact, count] = [0, 0]
  let [rightLines, allLines] = [0, 0]
  for (const [index, format] of MRZ_FORMATS.entries())
    for (let number = 0; number < PER_FORMAT; number++) {
      const trial = {
        seed: seed + level * 10_000 + index * 1000 + number,
        format,
        level,
        frames: 1,
        print: 'reported',
      } as const
      const { document, photos } = drawTrial(trial)
      for (const photo of photos) {
        const { data } = await worker.recognize(greyMap(zoneOf(photo)))
        const lines = data.text
          .split('\n')
          .map((line) => line.replaceAll(' ', ''))
          .filter((line) => line !== '')
        count++
        allLines += document.lines.length
        rightLines += document.lines.filter((line) => lines.includes(line)).length
        if (lines.join('\n') === document.lines.join('\n')) exact++
      }
    }
  return `tesseract.js on the zones of the same frames, level ${level}: ${formatShare(exact, count)}; single lines ${rightLines} of ${allLines}`
}

interface GreyPicture {
  width: number
  height: number
  grey: Uint8Array
}

/** The upright rectangle around the zone, with a margin of a character. */
function zoneOf({ width, height, grey, centres, pixelsPerCharacter }: Photograph): GreyPicture {
  const points = centres.flat()
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const left = Math.max(0, Math.floor(Math.min(...xs) - pixelsPerCharacter))
  const right = Math.min(width, Math.ceil(Math.max(...xs) + pixelsPerCharacter))
  const top = Math.max(0, Math.floor(Math.min(...ys) - pixelsPerCharacter))
  const bottom = Math.min(height, Math.ceil(Math.max(...ys) + pixelsPerCharacter))
  const zone = new Uint8Array((right - left) * (bottom - top))
  for (let y = top; y < bottom; y++)
    zone.set(grey.subarray(y * width + left, y * width + right), (y - top) * (right - left))
  return { width: right - left, height: bottom - top, grey: zone }
}

function greyMap({ width, height, grey }: GreyPicture): Buffer {
  return Buffer.concat([Buffer.from(`P5 ${width} ${height} 255\n`), grey])
}
