/**
 * Whether `nothing-lost --million` counts right when its pieces end in the middle: a small run, of which one piece is killed with -9 among
 * the kills, one ends in order when it is asked to, one is killed while the last events arrive, and the last goes on to the end. The figures are
 * those of the run. Three to six minutes, so it is not in the gate.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { ROOT } from '@ostiary/testkit/run'

const EVENTS = 2_000
const KILLS = 6
/** Each piece, the words at which it gets a signal, and which. Waiting for a time would let a fast machine end before it. */
const PIECES: readonly { at?: string; signal?: 'SIGKILL' | 'SIGINT' }[] = [
  { at: 'kill 2 of', signal: 'SIGKILL' },
  { at: 'kill 4 of', signal: 'SIGINT' },
  { at: 'have not arrived yet', signal: 'SIGKILL' },
  {},
]

export const measure: Measure = async ({ say }) => {
  const dir = mkdtempSync(join(tmpdir(), 'ostiary-million-'))
  let killed = 0
  try {
    for (const piece of PIECES) {
      const options = ['--dir', dir, '--events', String(EVENTS), '--kills', String(KILLS)]
      const end = await playPiece(options, say, piece)
      if (end === 'SIGKILL') killed++
      say(`the piece ended with ${end}`)
    }
    const figures = JSON.parse(readFileSync(join(dir, 'figures.json'), 'utf8')) as Figure[]
    return [
      ...figures.map((figure) => ({ ...figure, name: figure.name.replace('nothing-lost.million', 'million-resume') })),
      { name: 'million-resume.killed-pieces', value: killed, floor: 2, is: 'least' },
    ]
  } finally {
    await playPiece(['--dir', dir, '--wipe'], say)
  }
}

/** Returns the exit code, or the signal. */
function playPiece(
  options: string[],
  say: (text: string) => void,
  { at, signal = 'SIGKILL' }: (typeof PIECES)[number] = {},
): Promise<number | string | null> {
  const child = spawn(process.execPath, [`${ROOT}tools/measure.ts`, 'drill', 'nothing-lost', '--million', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) say(`| ${line}`)
    if (at !== undefined && text.includes(at)) child.kill(signal)
  })
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
}
