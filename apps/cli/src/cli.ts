import { parseArgs } from 'node:util'
import { VERSION } from '@ostiary/contract/version'
import type { Environment } from '@ostiary/server/operate'
import { type Command, UsageError } from './command.ts'
import { COMMANDS, type CommandEntry } from './commands.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line and returns the exit code: 0 success, 1 failure, 2 wrong usage. `screen` and `simulate` add a 3. */
export async function runCli(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  if (argv[0] === 'version' || argv[0] === '--version') {
    terminal.out(VERSION)
    return 0
  }
  const entry = findCommand(argv)
  if (!entry) {
    const asked = argv.length === 0 || ['help', '--help', '-h'].includes(argv[0] ?? '')
    if (asked) terminal.out(overview())
    else terminal.err(noSuchCommand(argv))
    return asked ? 0 : 2
  }
  const command = await entry.load()
  try {
    const { values, positionals } = parseArgs({
      args: argv.slice(command.name.split(' ').length),
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, ...command.options },
      allowPositionals: true,
    })
    if (values.help) {
      terminal.out(`${entry.summary}.\n\n${command.usage}`)
      return 0
    }
    return await command.run({ args: positionals, options: values, env, terminal })
  } catch (error) {
    return explain(error, command, terminal)
  }
}

/** The longest name wins: "doctor live" is a command of its own, beside "doctor". */
function findCommand(argv: readonly string[]): CommandEntry | undefined {
  const matches = COMMANDS.filter(({ name }) => argv.slice(0, name.split(' ').length).join(' ') === name)
  return matches.toSorted((one, other) => other.name.length - one.name.length)[0]
}

/** Lists only the commands of the same group: a list of all commands would scroll the message off the screen. */
function noSuchCommand([group = '', verb = '']: readonly string[]): string {
  const verbs = COMMANDS.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []))
  const known = verbs.length > 0 ? `After "ostiary ${group}" comes ${verbs.join(', ')}.` : '"ostiary help" names all.'
  return `There is no command "${`${group} ${verb}`.trim()}". ${known}`
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  const lines = COMMANDS.map(({ name, summary }) => `  ostiary ${name.padEnd(width)}  ${summary}`)
  return `Ostiary ${VERSION}: operate an installation from its machine.\n\n${lines.join('\n')}\n\nostiary <command> --help shows its options. Settings come from the environment: docs/configuration.md`
}

function explain(error: unknown, command: Command, terminal: Terminal): number {
  const misunderstood = error instanceof UsageError ? error.message : parseProblem(error)
  if (misunderstood !== undefined) {
    terminal.err(`${misunderstood}\n\n${shortHelp(command)}`)
    return 2
  }
  if (!(error instanceof Error)) return 1
  // The server's errors are known by their names: the classes would load the server, which a package of this CLI does not have.
  if (error.name === 'ConfigError') terminal.err(error.message)
  else if (error.name === 'AppError') terminal.err(`${error.message}. "ostiary doctor" checks the whole installation.`)
  else terminal.err(`Failed: ${error.message}`)
  return 1
}

const SHORT_HELP_LINES = 3

/** A long usage text would scroll the error message off the screen. */
function shortHelp({ name, usage }: Command): string {
  if (usage.split('\n').length <= SHORT_HELP_LINES) return usage
  return `ostiary ${name} --help shows its options`
}

/** Rewords the errors of `parseArgs`: Node's own texts speak of positional arguments. */
function parseProblem(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  // Node names both forms of an option, as in '-h, --help'. This takes the long one.
  const option = /'.*?(-[^\s',]+)[^-]*?'/.exec(error.message)?.[1] ?? 'An option'
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `Unknown option '${option}'`
  if (error.code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return undefined
  if (error.message.includes('does not take')) return `${option} takes no value`
  return `${option} needs a value${error.message.includes('ambiguous') ? `; if it begins with a dash: ${option}=-…` : ''}`
}
