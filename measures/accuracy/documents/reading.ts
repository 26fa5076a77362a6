/** How often single frames and whole documents are read, by level, and how often wrongly. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { MRZ_FORMATS } from '@ostiary/documents'
import type { LevelNumber } from '@ostiary/models/drawn-documents/photograph'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { compareWithTesseract } from './tesseract.ts'
import { REPORTED_SEED, type Trial, type TrialResult } from './trial.ts'
import { formatShare, wilsonInterval } from './wilson.ts'

const OPTIONS = { documents: { type: 'string' }, seed: { type: 'string' }, full: { type: 'boolean' } } as const
const LEVEL_NUMBERS: readonly LevelNumber[] = [1, 2, 3, 4, 5, 6]
/** Per cent of single frames that are accepted and right. */
const FLOORS: Partial<Record<LevelNumber, number>> = { 1: 99.5, 2: 99, 3: 97 }
const CPU_MS_MAX = 250
const FRAMES = 3

export const measureReading: Measure = async ({ full, say }) => {
  const { values } = parseArgs({ args: process.argv.slice(4), options: OPTIONS, strict: false })
  const perLevel = values.documents === undefined ? (full ? 200 : undefined) : Number(values.documents)
  const seed = values.seed === undefined ? REPORTED_SEED : Number(values.seed)
  say('drawn documents on a cut that was never trained on; real prints were not seen')
  const trials = perLevel === undefined ? shortTrials(seed) : fullTrials(perLevel, seed)
  const results = await runAll(trials, { say, onLevel: (level, done) => sayLevel(level, done, say) })
  const reported = results.filter(isReported)
  sayFormats(reported, say)
  sayBeyond(results, say)
  if (full) await compareWithTesseract({ seed, say })
  return figuresOf(reported, say)
}

/** A few documents at levels 1 to 3: about ten seconds of CPU. */
function shortTrials(seed: number): Trial[] {
  const ofLevel = (level: LevelNumber, frames: number) => trialsOf(level, { count: 1, frames, seed, print: 'reported' })
  return [...ofLevel(1, 1).slice(0, 2), ...ofLevel(2, 1).slice(2, 5), ...ofLevel(3, 2)]
}

function fullTrials(perLevel: number, seed: number): Trial[] {
  return LEVEL_NUMBERS.flatMap((level) => {
    const count = level <= 3 ? perLevel : Math.ceil(perLevel * 0.3)
    const beyond =
      level <= 3
        ? trialsOf(level, { count: Math.ceil(count / 10), frames: 1, seed: seed + 500_000, print: 'beyond' })
        : []
    return [...trialsOf(level, { count, frames: FRAMES, seed, print: 'reported' }), ...beyond]
  })
}

function trialsOf(
  level: LevelNumber,
  { count, ...rest }: { count: number; frames: number; seed: number; print: Trial['print'] },
): Trial[] {
  return MRZ_FORMATS.flatMap((format, index) =>
    Array.from({ length: count }, (_, number) => ({
      ...rest,
      format,
      level,
      seed: rest.seed + level * 10_000 + index * 1000 + number,
    })),
  )
}

const isReported = ({ trial }: { trial: Trial }) => trial.print === 'reported'

interface Running {
  say(text: string): void
  /** Every document of a level is done: a run that is stopped has said something. */
  onLevel(level: LevelNumber, results: readonly TrialResult[]): void
}

/** Two threads at most: the figure of CPU time shall not measure how they wait for each other. */
async function runAll(trials: readonly Trial[], { say, onLevel }: Running): Promise<TrialResult[]> {
  const waiting = trials.entries()
  const countOf = (wanted: LevelNumber) =>
    trials.filter((trial) => isReported({ trial }) && trial.level === wanted).length
  const results = new Array<TrialResult>(trials.length)
  let done = 0
  const work = async () => {
    const worker = new Worker(new URL('./trial-worker.ts', import.meta.url))
    try {
      for (const [index, trial] of waiting) {
        worker.postMessage(trial)
        const [result] = (await once(worker, 'message')) as [TrialResult]
        results[index] = result
        const ofLevel = results.filter((one) => isReported(one) && one.trial.level === trial.level)
        if (isReported(result) && ofLevel.length === countOf(trial.level)) onLevel(trial.level, ofLevel)
        if (++done % 200 === 0) say(`${done} of ${trials.length} documents`)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work))
  return results
}

const framesOf = (results: readonly TrialResult[]) => results.flatMap(({ frames }) => frames)
const isRightFrame = ({ isExact, isAccepted }: { isExact: boolean; isAccepted: boolean }) => isExact && isAccepted

function sayLevel(level: LevelNumber, results: readonly TrialResult[], say: (text: string) => void): void {
  const frames = framesOf(results)
  const wrong = frames.filter(({ isExact, isAccepted }) => isAccepted && !isExact).length
  const cpu = median(frames.map(({ cpuMs }) => cpuMs)).toFixed(0)
  say(
    `level ${level}: frames accepted and right ${formatShare(frames.filter(isRightFrame).length, frames.length)}; accepted and wrong ${wrong}; ${cpu} ms CPU`,
  )
  const several = results.filter((result) => result.frames.length > 1)
  const accepted = several.filter(({ isAccepted }) => isAccepted)
  const wrongDocuments = accepted.filter(({ isRight }) => !isRight).length
  say(
    `level ${level}: documents by two equal frames ${formatShare(accepted.length, several.length)}; wrong ${wrongDocuments}; taken for tampered ${several.filter(({ digitFailed }) => digitFailed).length}`,
  )
}

function sayFormats(results: readonly TrialResult[], say: (text: string) => void): void {
  for (const format of MRZ_FORMATS) {
    const frames = framesOf(results.filter(({ trial }) => trial.format === format && trial.level <= 3))
    say(`${format} at levels 1 to 3: ${formatShare(frames.filter(isRightFrame).length, frames.length)}`)
  }
}

function sayBeyond(results: readonly TrialResult[], say: (text: string) => void): void {
  const frames = framesOf(results.filter(({ trial }) => trial.print === 'beyond'))
  if (frames.length === 0) return
  const wrong = frames.filter(({ isExact, isAccepted }) => isAccepted && !isExact).length
  say(
    `prints beyond the trained range, levels 1 to 3: ${formatShare(frames.filter(isRightFrame).length, frames.length)}; accepted and wrong ${wrong}`,
  )
}

function figuresOf(results: readonly TrialResult[], say: (text: string) => void): Figure[] {
  const frames = framesOf(results)
  const wrongFrames = frames.filter(({ isExact, isAccepted }) => isAccepted && !isExact).length
  const documents = results.filter((result) => result.frames.length > 1)
  const wrongDocuments = documents.filter(({ isAccepted, isRight }) => isAccepted && !isRight).length
  say(
    `accepted and wrong: ${wrongFrames} of ${frames.length} frames (below ${percent(wrongFrames, frames.length)} %), ${wrongDocuments} of ${documents.length} documents (below ${percent(wrongDocuments, documents.length)} %)`,
  )
  const levels = Object.entries(FLOORS).map(([level, floor]): Figure => {
    const here = framesOf(results.filter(({ trial }) => trial.level === Number(level)))
    return {
      name: `documents.read.level${level}`,
      value: (100 * here.filter(isRightFrame).length) / here.length,
      floor,
      is: 'least',
    }
  })
  return [
    ...levels,
    {
      name: 'documents.wrong_frames',
      value: wrongFrames,
      floor: 0,
      is: 'most',
    },
    {
      name: 'documents.wrong_documents',
      value: wrongDocuments,
      floor: 0,
      is: 'most',
    },
    {
      name: 'documents.read_cpu_ms',
      value: median(frames.map(({ cpuMs }) => cpuMs)),
      floor: CPU_MS_MAX,
      is: 'most',
      load: true,
    },
  ]
}

const percent = (hits: number, count: number) => (wilsonInterval(hits, count).high * 100).toFixed(2)
