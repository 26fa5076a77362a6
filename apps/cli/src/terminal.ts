import { styleText } from 'node:util'

/** Where a command writes. Tests collect it; the process prints it. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Colours and progress are for people at a terminal, not for pipes. */
  isInteractive: boolean
  /** One line that is written over by the next; an empty text ends it. Nothing in pipes. */
  progress(text: string): void
  /** Whether anybody sees that line. */
  showsProgress?: boolean
}

export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  isInteractive: process.stdout.isTTY === true,
  progress(text) {
    if (process.stderr.isTTY) process.stderr.write(text === '' ? '\n' : `\r\x1b[K${text}`)
  },
  showsProgress: process.stderr.isTTY === true,
}

/**
 * `ostiary … | head` closes the pipe when it has seen enough. That is no fault, and no reason to stop in the middle: a report is
 * still written, a migration still finished, and the exit code is that of the command.
 */
export function letReadersLeave(...streams: readonly NodeJS.WritableStream[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}

type Style = Parameters<typeof styleText>[0]

export function paint(terminal: Terminal, style: Style, text: string): string {
  return terminal.isInteractive ? styleText(style, text) : text
}

/** Columns as wide as their widest cell, with a header line. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(header), ...rows.map(line)].join('\n')
}
