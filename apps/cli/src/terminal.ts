import { styleText } from 'node:util'

/** Where a command writes. Tests collect it; the process prints it. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Colours and progress are for people at a terminal, not for pipes. */
  isInteractive: boolean
  /** Overwrites the progress line; an empty text ends it. Does nothing in a pipe. */
  progress(text: string): void
  /** Whether the progress line is visible. */
  showsProgress?: boolean
  /** Removes the progress line without a trace. */
  erase?(): void
  /** The width of the screen; undefined in a pipe. */
  columns?: number | undefined
}

export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  isInteractive: process.stdout.isTTY === true,
  progress(text) {
    if (process.stderr.isTTY) process.stderr.write(text === '' ? '\n' : `\r\x1b[K${text}`)
  },
  showsProgress: process.stderr.isTTY === true,
  erase() {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  },
  get columns() {
    return process.stdout.isTTY ? process.stdout.columns : undefined
  },
}

/**
 * `ostiary … | head` closes the pipe when it has read enough. The command ignores that and continues: it still writes the
 * report or finishes the migration, and its exit code does not change.
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
