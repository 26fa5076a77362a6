import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Covering } from '../samples/coverings.ts'
import type { DocumentSide } from '../samples/documents.ts'

const PUPPET = fileURLToPath(new URL('../../puppet/main.ts', import.meta.url))

/** A fake camera that shows tests/puppet, which makes the movements that the page asks for. */
export interface LiveCamera {
  /** The file for Chromium's fake camera: it holds one frame, which is overwritten continuously. */
  file: string
  /** Answers a movement as a person would, after a moment. */
  perform(movement: string): void
  /** `still`: no pixel changes from now on. */
  show(what: 'rest' | 'empty' | 'two-faces' | 'still'): void
  /** Draws a document as it will be held, so that `hold` need not wait for that. */
  prepare(document: HeldDocument): Promise<void>
  /** Holds a document before the camera until `show` is called. Resolves when the camera shows it. */
  hold(document: HeldDocument): Promise<void>
  /** Puts something on until `show` is called. Resolves when the camera shows it. */
  wear(covering: Covering): Promise<void>
  /** Slow motion from now on; 1 is normal. */
  slowDown(factor: number): void
  stop(): void
}

/** How a document is held: see HeldOptions in tests/puppet/held.ts. */
export interface HeldDocument {
  document: DocumentSide
  fill?: number
  blurPx?: number
  screen?: boolean
  glare?: { x: number; y: number; levels: number }
}

export interface LiveCameraOptions {
  /** A document needs a larger picture than a face: 16 pixels per character. */
  size?: '640x480' | '1280x720'
}

/** Takes a while: it draws all frames in advance, because drawing would compete with the browser for the processor. */
export async function startLiveCamera(
  portrait = 'baseline',
  { size = '640x480' }: LiveCameraOptions = {},
): Promise<LiveCamera> {
  const folder = mkdtempSync(join(inMemory() ?? tmpdir(), 'ostiary-camera-'))
  const file = join(folder, 'camera.y4m')
  const child = spawn(process.execPath, [PUPPET, 'live', '--portrait', portrait, '--out', file, '--size', size], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const stop = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  bePunctual(child)
  await answerTo(lines, child, { done: 'ready' })
  const say = (command: string) => void child.stdin.write(`${command}\n`)
  const handle = async (verb: 'prepare' | 'hold', thing: HeldDocument | { wears: Covering }) => {
    const command = `${verb} ${JSON.stringify(thing)}`
    const answered = answerTo(lines, child, { done: `done ${command}`, failed: `failed ${command}` })
    say(command)
    await answered
  }
  return {
    file,
    perform: say,
    show: say,
    prepare: (document) => handle('prepare', document),
    hold: (document) => handle('hold', document),
    wear: (covering) => handle('hold', { wears: covering }),
    slowDown: (factor) => say(`slow ${factor}`),
    stop() {
      process.removeListener('exit', stop)
      stop()
    },
  }
}

/** A folder in memory if possible: a camera that waits for a disk stands still, and the page takes that for a spoof. */
function inMemory(): string | undefined {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return undefined
  }
}

/** Gives the camera a higher priority than the browser. Only root may do that; without it the camera may stutter on a busy machine. */
function bePunctual({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, -10)
  } catch {
    // Keep the normal priority.
  }
}

/** Waits for a line that is `done`. A line that begins with `failed`, or the end of the puppet, is an error. */
async function answerTo(
  lines: Interface,
  child: ChildProcess,
  { done, failed }: { done: string; failed?: string },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error) => {
      lines.off('line', hear)
      child.off('exit', end)
      if (error) reject(error)
      else resolve()
    }
    const hear = (line: string) => {
      if (line === done) settle()
      else if (failed !== undefined && line.startsWith(failed)) settle(new Error(`The puppet says: ${line}`))
    }
    const end = (code: number | null) => settle(new Error(`The puppet ended with ${code} before it said "${done}"`))
    lines.on('line', hear)
    child.once('exit', end)
  })
}
