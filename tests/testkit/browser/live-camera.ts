import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PUPPET = fileURLToPath(new URL('../../puppet/main.ts', import.meta.url))

/** A fake camera that shows tests/puppet, which makes the movements that the page asks for. */
export interface LiveCamera {
  /** The file for Chromium's fake camera: it holds one frame, which is overwritten continuously. */
  file: string
  /** Answers a movement as a person would, after a moment. */
  perform(movement: string): void
  /** `still`: no pixel changes from now on. */
  show(what: 'rest' | 'empty' | 'two-faces' | 'still'): void
  /** Slow motion from now on; 1 is normal. */
  slowDown(factor: number): void
  stop(): void
}

/** Takes a while: it draws all frames in advance, because drawing would compete with the browser for the processor. */
export async function startLiveCamera(portrait = 'baseline'): Promise<LiveCamera> {
  const folder = mkdtempSync(join(inMemory() ?? tmpdir(), 'ostiary-camera-'))
  const file = join(folder, 'camera.y4m')
  const child = spawn(process.execPath, [PUPPET, 'live', '--portrait', portrait, '--out', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const stop = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  bePunctual(child)
  await ready(child)
  const say = (command: string) => void child.stdin.write(`${command}\n`)
  return {
    file,
    perform: say,
    show: say,
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

async function ready(child: ChildProcess): Promise<void> {
  if (!child.stdout) throw new Error('The puppet has no output')
  const lines = createInterface({ input: child.stdout })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => line === 'ready' && resolve())
    child.once('exit', (code) => reject(new Error(`The puppet ended with ${code} before it was ready`)))
  })
}
