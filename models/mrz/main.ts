/**
 * `node models/mrz/main.ts` trains the reader's net and writes its weights: draws documents, harvests cells, learns. The gate does
 * not run it; the test beside it trains one epoch on a few cells and compares.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { packLayers } from '@ostiary/documents'
import { TRAINED_CUTS } from '../drawn-documents/glyphs.ts'
import { type Cells, joinCells } from './cells.ts'
import { train } from './train.ts'

const { values } = parseArgs({
  options: {
    frames: { type: 'string', default: '1500' },
    epochs: { type: 'string', default: '12' },
    threads: { type: 'string', default: '2' },
    seed: { type: 'string', default: '7' },
    out: { type: 'string' },
  },
})
const [frames, epochs, threads, seed] = [values.frames, values.epochs, values.threads, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
]
const started = process.cpuUsage()
const say = (text: string) =>
  console.log(`${((process.cpuUsage(started).user / 1e6) | 0).toString().padStart(5)} s CPU  ${text}`)

const cells = await harvest()
say(`${cells.labels.length} cells of ${frames} frames`)
const { layers, loss } = train(cells, { seed, epochs, batch: 64, rate: 0.004, say })
const packed = packLayers(layers)
const digest = createHash('sha256').update(packed).digest('hex')
say(`loss ${loss.toFixed(4)}, ${packed.length} bytes, sha256 ${digest}`)
const text = Buffer.from(packed).toString('base64')
writeFileSync(
  values.out ?? new URL('../../packages/documents/src/reader/weights.ts', import.meta.url),
  `/** Made by models/mrz/main.ts; not to be edited. */\nexport const WEIGHTS =\n  '${text}'\n`,
)
writeFileSync(
  new URL('./manifest.json', import.meta.url),
  `${JSON.stringify({ cuts: TRAINED_CUTS, seed, frames, epochs, cells: cells.labels.length, bytes: packed.length, sha256: digest, date: new Date().toISOString().slice(0, 10) }, null, 2)}\n`,
)

/** The frames are split among threads and joined in order, so that the number of threads changes nothing. */
async function harvest(): Promise<Cells> {
  const share = Math.ceil(frames / threads)
  const parts = Array.from({ length: threads }, (_, index) => {
    const workerData = { from: index * share, to: Math.min(frames, (index + 1) * share) }
    const worker = new Worker(new URL('./harvest-worker.ts', import.meta.url), { workerData })
    return new Promise<Cells>((resolve, reject) => worker.on('message', resolve).on('error', reject))
  })
  return joinCells(await Promise.all(parts))
}
