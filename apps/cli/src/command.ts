import { resolve } from 'node:path'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { Environment } from '@ostiary/server/operate'
import type { Terminal } from './terminal.ts'

export interface Invocation {
  args: readonly string[]
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  env: Environment
  terminal: Terminal
  /** All commands, for the command that prints what a shell completes. */
  commands?: readonly ListedCommand[]
}

/** A command in the table of contents. */
export interface ListedCommand {
  name: string
  load(): Promise<Command>
}

/** One command. `run` returns the exit code. */
export interface Command {
  name: string
  usage: string
  options?: ParseArgsOptionsConfig
  /** The values that an option takes, where they can be listed. The shell completes them. */
  values?: Readonly<Record<string, readonly string[]>>
  /** The words that the first argument can be, where they can be listed. */
  words?: readonly string[]
  /** Asks questions: no line that shows the time may come between. */
  asks?: boolean
  run(invocation: Invocation): Promise<number>
}

/** The command line is wrong. The CLI shows the message together with the command's usage. */
export class UsageError extends Error {}

export function text(invocation: Invocation, name: string): string | undefined {
  const value = invocation.options[name]
  return typeof value === 'string' ? value : undefined
}

export function texts(invocation: Invocation, name: string): string[] {
  const value = invocation.options[name]
  return Array.isArray(value) ? value.map(String) : []
}

/** Prints a result: as JSON with --json, else as the text. Returns the exit code of a command that has succeeded. */
export function answer({ terminal, options }: Invocation, result: unknown, shown: string): number {
  terminal.out(options.json ? JSON.stringify(result) : shown)
  return 0
}

export function required(invocation: Invocation, name: string): string {
  const value = text(invocation, name)
  if (value === undefined) throw new UsageError(`--${name} is required`)
  return value
}

/** Whether live data is meant, where one of --test and --live must be given. */
export function isLiveMode({ options: { test, live } }: Invocation): boolean {
  if (Boolean(test) === Boolean(live)) throw new UsageError('Give either --test or --live')
  return Boolean(live)
}

export function argument(invocation: Invocation, what: string): string {
  const [value] = invocation.args
  if (value === undefined) throw new UsageError(`Name the ${what}`)
  return value
}

/**
 * Resolves a path against the folder in which the person typed the command. npm runs `npm run ostiary` in the root of the
 * checkout and passes the original folder in INIT_CWD. Other npm scripts keep their own working directory. Paths in settings
 * are not resolved this way: they must be the same for every process.
 */
export function fileAt({ env }: Pick<Invocation, 'env'>, path: string): string {
  const calledIn = env.npm_lifecycle_event === 'ostiary' ? env.INIT_CWD : undefined
  return calledIn === undefined || calledIn === process.cwd() ? path : resolve(calledIn, path)
}

/** The file or folder that an option names. */
export function fileOf(invocation: Invocation, name: string): string | undefined {
  const path = text(invocation, name)
  return path === undefined ? undefined : fileAt(invocation, path)
}

export function number(invocation: Invocation, name: string): number | undefined {
  const value = text(invocation, name)
  if (value === undefined) return undefined
  if (!/^\d+$/.test(value)) throw new UsageError(`--${name} must be a whole number`)
  return Number(value)
}

/** A number that may have a fraction, as 0.45. */
export function decimal(invocation: Invocation, name: string): number | undefined {
  const value = text(invocation, name)
  if (value === undefined) return undefined
  if (!/^\d+(\.\d+)?$/.test(value)) throw new UsageError(`--${name} must be a number such as 0.45`)
  return Number(value)
}

/** An option that takes one of some values. */
export function oneOf<const T extends string>(
  invocation: Invocation,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = text(invocation, name)
  if (value === undefined) return undefined
  const found = values.find((known) => known === value)
  if (found === undefined) throw new UsageError(`--${name} must be one of ${values.join(', ')}`)
  return found
}
