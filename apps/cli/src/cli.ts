import { parseArgs } from 'node:util'
import { VERSION } from '@ostiary/contract/version'
import type { Environment } from '@ostiary/server/operate'
import type { Command } from './command.ts'
import { COMMANDS, type CommandEntry } from './commands.ts'
import { explain, NOT_UNDERSTOOD, sayJson } from './failures.ts'
import {
  commandFacts,
  commandHelp,
  commandsUnder,
  entryFacts,
  findCommand,
  groupHelp,
  noSuchCommand,
  overview,
  wordsOf,
} from './help.ts'
import type { Terminal } from './terminal.ts'
import { withWaitLine } from './wait-line.ts'

const HELP = ['help', '--help', '-h']

/** Runs one command line and returns the exit code: 0 success, 1 failure, 2 wrong usage, 3 a finding, where a command has one. */
export async function runCli(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  const json = argv.includes('--json')
  if (argv[0] === 'version' || argv[0] === '--version') {
    terminal.out(json ? JSON.stringify({ version: VERSION }) : VERSION)
    return 0
  }
  if (argv.length === 0 || HELP.includes(argv[0] ?? '')) return help(argv.slice(1), { terminal, json })
  const entry = findCommand(argv)
  if (entry) return run(entry, argv, { env, terminal, json })
  const words = wordsOf(argv)
  const isGroup = words.length > 0 && commandsUnder(words.join(' ')).length > 0
  return isGroup ? help(argv, { terminal, json }) : refuse(argv, { terminal, json })
}

interface Shown {
  terminal: Terminal
  json: boolean
}

/** Help for all commands, for the commands of a group, or for one command. */
async function help(argv: readonly string[], { terminal, json }: Shown): Promise<number> {
  const words = wordsOf(argv)
  const group = words.join(' ')
  const entry = findCommand(words)
  const isGroup = commandsUnder(group).length > 0
  if (words.length === 0) terminal.out(json ? JSON.stringify(COMMANDS.map(entryFacts)) : overview(terminal))
  else if (entry && (entry.name === group || !isGroup)) show(entry, await entry.load(), { terminal, json })
  else if (isGroup)
    terminal.out(json ? JSON.stringify(commandsUnder(group).map(entryFacts)) : groupHelp(group, terminal))
  else return refuse(words, { terminal, json })
  return 0
}

function show(entry: CommandEntry, command: Command, { terminal, json }: Shown): void {
  terminal.out(json ? JSON.stringify(commandFacts(entry, command)) : commandHelp(entry, command, terminal))
}

function refuse(argv: readonly string[], { terminal, json }: Shown): number {
  const message = noSuchCommand(argv)
  if (json) sayJson(terminal, { message, exitCode: NOT_UNDERSTOOD })
  else terminal.err(message)
  return NOT_UNDERSTOOD
}

async function run(
  entry: CommandEntry,
  argv: readonly string[],
  { env, terminal, json }: Shown & { env: Environment },
): Promise<number> {
  const command = await entry.load()
  try {
    const { args, numbers } = apart(argv.slice(command.name.split(' ').length), command)
    const { values, positionals } = parseArgs({
      args,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, ...command.options },
      allowPositionals: true,
    })
    if (values.help) {
      show(entry, command, { terminal, json })
      return 0
    }
    const invocation = { args: [...positionals, ...numbers], options: values, env, terminal, commands: COMMANDS }
    if (command.asks) return await command.run(invocation)
    return await withWaitLine(terminal, `ostiary ${command.name}`, (watched) =>
      command.run({ ...invocation, terminal: watched }),
    )
  } catch (error) {
    return explain(error, command, { terminal, json })
  }
}

/** Sets negative numbers apart where they are words of the command, as in "trigger -9": `parseArgs` takes them for options. */
function apart(args: readonly string[], { words = [] }: Command): { args: string[]; numbers: string[] } {
  const takesNumbers = words.some((word) => /^-\d/.test(word))
  const isNumber = (arg: string) => takesNumbers && /^-\d+$/.test(arg)
  return { args: args.filter((arg) => !isNumber(arg)), numbers: args.filter(isNumber) }
}
