import { fstatSync, writeSync } from 'node:fs'

/** Destination of log lines. */
export interface LogOutput {
  write(line: string): void
  /** Resolves when the lines written so far have left the process, or at the deadline. */
  flush(deadlineMs: number): Promise<void>
  /** Lines that could not be written. */
  lost(): number
}

const STANDARD_OUTPUT = 1
/** A write per line costs more than the line. */
const BLOCK_CHARS = 4096
const FLUSH_EVERY_MS = 250
/** Lines that may wait for a slow reader. Further lines are lost: the log must not use up the memory of the service. */
const WAITING_MAX_BYTES = 4 * 1024 * 1024
const LAST_TRIES = 20
const LAST_PAUSE_MS = 10

let standardOutput: LogOutput | undefined

/**
 * Writes to standard output in blocks. The log never blocks the service or its exit: when the reader of a pipe is gone, lines are
 * lost and counted, and a reader that does not read delays the exit by `flush` at most. sonic-boom, pino's own output, repeats the
 * last write for ever when the reader is gone, and its writes hold a thread that Node waits for at exit.
 */
export function createLogOutput(): LogOutput {
  standardOutput ??= isFile(STANDARD_OUTPUT) ? bufferLines(fileTarget()) : bufferLines(pipeTarget())
  return standardOutput
}

/** Writes the buffered lines before the process ends. */
export async function flushLogOutput(deadlineMs: number): Promise<void> {
  await standardOutput?.flush(deadlineMs)
}

export function countLostLogLines(): number {
  return standardOutput?.lost() ?? 0
}

/** Accepts blocks of lines. Reports how many of a block's lines are lost. */
interface Target {
  write(block: string, onLost: () => void): void
  /** Resolves when all blocks so far are written or lost. */
  settled(): Promise<void>
  /** Writes synchronously, as much as possible. */
  writeLast(block: string): void
}

function bufferLines(target: Target): LogOutput {
  let held = ''
  let heldLines = 0
  let lost = 0

  function pass(): void {
    if (heldLines === 0) return
    const [block, lines] = [held, heldLines]
    held = ''
    heldLines = 0
    target.write(block, () => {
      lost += lines
    })
  }

  setInterval(pass, FLUSH_EVERY_MS).unref()
  process.on('exit', () => target.writeLast(held))
  return {
    write(line) {
      held += line
      heldLines++
      if (held.length >= BLOCK_CHARS) pass()
    },
    async flush(deadlineMs) {
      pass()
      let timer: NodeJS.Timeout | undefined
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs)
      })
      await Promise.race([target.settled(), deadline])
      clearTimeout(timer)
    },
    lost: () => lost,
  }
}

/** Pipe, socket or terminal. Bytes that the pipe does not accept at once wait in Node, and hold no thread. */
function pipeTarget(): Target {
  const stream = process.stdout
  let isGone = false
  stream.on('error', () => {
    isGone = true
  })
  return {
    write(block, onLost) {
      if (isGone || stream.writableLength > WAITING_MAX_BYTES) return onLost()
      stream.write(block, (error) => {
        if (error) onLost()
      })
    },
    settled: () =>
      new Promise((resolve) => {
        if (isGone) resolve()
        else stream.write('', () => resolve())
      }),
    writeLast(block) {
      // While earlier lines wait for a slow reader, these would come out of order, and wait too.
      if (!isGone && stream.writableLength === 0) writeBriefly(block)
    },
  }
}

/** A file. A full disk may have space again later, so each block is tried. */
function fileTarget(): Target {
  return {
    write(block, onLost) {
      try {
        writeSync(STANDARD_OUTPUT, block)
      } catch {
        onLost()
      }
    },
    settled: () => Promise.resolve(),
    writeLast: writeBriefly,
  }
}

/** Writes the last lines of a process. Gives up after a moment if the pipe stays full. */
function writeBriefly(block: string): void {
  let rest = Buffer.from(block)
  for (let tries = 0; rest.length > 0 && tries < LAST_TRIES; tries++) {
    try {
      rest = rest.subarray(writeSync(STANDARD_OUTPUT, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE_MS)
    }
  }
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}
