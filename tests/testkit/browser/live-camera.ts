import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PUPPET = fileURLToPath(new URL('../../puppet/main.ts', import.meta.url))

/** What stands before the camera: tests/puppet, which answers what the page asks for. */
export interface LiveCamera {
  /** For Chromium's fake camera: it holds one frame, which is written over and over. */
  file: string
  /** Answers a movement as a person would, after a moment. */
  perform(movement: string): void
  /** `still`: not a pixel changes from now on. */
  show(what: 'rest' | 'empty' | 'two-faces' | 'still'): void
  stop(): void
}

/** Takes a while: everything is drawn beforehand, because drawing takes time that the browser needs. */
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
    stop() {
      process.removeListener('exit', stop)
      stop()
    },
  }
}

/** Where a frame is written without waiting for a disk: a camera that stands still for a second is no living person. */
function inMemory(): string | undefined {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return undefined
  }
}

/** A camera does not wait for the browser's work. Only root may say so; elsewhere a busy machine may make it stutter. */
function bePunctual({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, -10)
  } catch {
    // As it is, then.
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
