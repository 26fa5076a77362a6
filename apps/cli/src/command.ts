import type { ParseArgsOptionsConfig } from 'node:util'
import type { Environment } from '@ostiary/server/operate'
import type { Terminal } from './terminal.ts'

export interface Invocation {
  args: readonly string[]
  options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  env: Environment
  terminal: Terminal
}

/** One command. `run` returns the exit code. */
export interface Command {
  name: string
  usage: string
  summary: string
  options?: ParseArgsOptionsConfig
  run(invocation: Invocation): Promise<number>
}

/** What the person typed cannot be carried out; shown with the command's usage. */
export class UsageError extends Error {}

export function text(invocation: Invocation, name: string): string | undefined {
  const value = invocation.options[name]
  return typeof value === 'string' ? value : undefined
}

export function texts(invocation: Invocation, name: string): string[] {
  const value = invocation.options[name]
  return Array.isArray(value) ? value.map(String) : []
}

export function argument(invocation: Invocation, what: string): string {
  const [value] = invocation.args
  if (value === undefined) throw new UsageError(`Name the ${what}`)
  return value
}

export function number(invocation: Invocation, name: string): number | undefined {
  const value = text(invocation, name)
  if (value === undefined) return undefined
  if (!/^\d+$/.test(value)) throw new UsageError(`--${name} must be a whole number`)
  return Number(value)
}
