import { type Command, UsageError } from './command.ts'
import { closest } from './suggest.ts'
import type { Terminal } from './terminal.ts'

export const NOT_POSSIBLE = 1
export const NOT_UNDERSTOOD = 2

/** Prints why a command did not run, and returns the exit code. With --json the reason is JSON too, on standard error. */
export function explain(error: unknown, command: Command, { terminal, json }: { terminal: Terminal; json: boolean }) {
  const misunderstood = error instanceof UsageError ? error.message : parseProblem(error, command)
  const exitCode = misunderstood === undefined ? NOT_POSSIBLE : NOT_UNDERSTOOD
  const message = misunderstood ?? reasonOf(error)
  if (json) sayJson(terminal, { message, exitCode, ...factsOf(error) })
  else terminal.err(misunderstood === undefined ? message : `${message}\n\n${shortHelp(command)}`)
  return exitCode
}

/** The same shape for every failure: {"error":{"message":…,"exitCode":…}}, with `code`, `status` and `requestId` of the service. */
export function sayJson(terminal: Terminal, error: { message: string; exitCode: number }): void {
  terminal.err(JSON.stringify({ error }))
}

/** The server's errors are known by their names: the classes would load the server, which a package of this CLI does not have. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `Failed: ${String(error)}`
  if (error.name === 'ConfigError') return error.message
  if (error.name === 'AppError') return `${error.message}. "ostiary doctor" checks the whole installation.`
  return `Failed: ${error.message}`
}

/** What the service said beside its message. */
function factsOf(error: unknown): object {
  const { code, status, requestId } = error as { code?: unknown; status?: unknown; requestId?: unknown }
  return {
    ...(typeof code === 'string' && !code.startsWith('ERR_PARSE_ARGS') && { code }),
    ...(typeof status === 'number' && status > 0 && { status }),
    ...(typeof requestId === 'string' && { requestId }),
  }
}

const SHORT_HELP_LINES = 3

/** A long usage text would scroll the error message off the screen. */
function shortHelp({ name, usage }: Command): string {
  if (usage.split('\n').length <= SHORT_HELP_LINES) return usage
  return `ostiary ${name} --help shows its options`
}

/** Rewords the errors of `parseArgs`: Node's own texts speak of positional arguments. */
function parseProblem(error: unknown, { options = {} }: Command): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  // Node names both forms of an option, as in '-h, --help'. This takes the long one.
  const option = /'.*?(-[^\s',]+)[^-]*?'/.exec(error.message)?.[1] ?? 'An option'
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const guess = closest(option.replace(/^-+/, ''), ['json', 'help', ...Object.keys(options)])
    return `Unknown option '${option}'${guess === undefined ? '' : `. Did you mean --${guess}?`}`
  }
  if (error.code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return undefined
  if (error.message.includes('does not take')) return `${option} takes no value`
  return `${option} needs a value${error.message.includes('ambiguous') ? `; if it begins with a dash: ${option}=-…` : ''}`
}
