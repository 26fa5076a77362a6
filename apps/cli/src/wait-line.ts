import type { Terminal } from './terminal.ts'

const TICK_MS = 1_000

/**
 * Shows that a command is still at work, from its second second on, until it writes something of its own. Only at a terminal:
 * a pipe or a log gets nothing.
 */
export async function withWaitLine<T>(
  terminal: Terminal,
  what: string,
  work: (terminal: Terminal) => Promise<T>,
): Promise<T> {
  const { erase } = terminal
  if (!terminal.showsProgress || erase === undefined) return work(terminal)
  let seconds = 0
  let isShown = false
  const timer = setInterval(() => {
    seconds++
    isShown = true
    terminal.progress(`${what}: ${seconds} s`)
  }, TICK_MS).unref()
  const stop = () => {
    clearInterval(timer)
    if (isShown) erase()
    isShown = false
  }
  const after =
    <A extends unknown[]>(write: (...args: A) => void) =>
    (...args: A) => {
      stop()
      write(...args)
    }
  const watched: Terminal = {
    ...terminal,
    out: after(terminal.out),
    err: after(terminal.err),
    progress: after(terminal.progress),
  }
  try {
    return await work(watched)
  } finally {
    stop()
  }
}
