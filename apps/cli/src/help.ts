import { VERSION } from '@ostiary/contract/version'
import type { Command } from './command.ts'
import { COMMANDS, type CommandEntry, type Needs } from './commands.ts'
import { closest } from './suggest.ts'
import { paint, type Terminal } from './terminal.ts'

const SECTIONS: Readonly<Record<Needs, string>> = {
  service: 'With a service, at an address:',
  nothing: 'On this computer alone:',
  machine: 'On the machine of the installation, with its database and master key:',
}

const EXIT_CODES =
  'Exit codes: 0 done, 1 not possible, 2 not understood, 3 done with a finding (each command says which).'

/** The longest name wins: "doctor live" is a command of its own, beside "doctor". */
export function findCommand(argv: readonly string[]): CommandEntry | undefined {
  const matches = COMMANDS.filter(({ name }) => argv.slice(0, name.split(' ').length).join(' ') === name)
  return matches.toSorted((one, other) => other.name.length - one.name.length)[0]
}

/** The commands whose names begin with these words. */
export function commandsUnder(group: string): CommandEntry[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `))
}

/** The words before the first option. */
export function wordsOf(argv: readonly string[]): string[] {
  const end = argv.findIndex((word) => word.startsWith('-'))
  return argv.slice(0, end === -1 ? argv.length : end)
}

export function overview(terminal: Terminal): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  const sections = Object.entries(SECTIONS).flatMap(([needs, title]) => {
    const entries = COMMANDS.filter((entry) => entry.needs === needs)
    return entries.length === 0 ? [] : [[paint(terminal, 'bold', title), ...lines(entries, width, terminal)].join('\n')]
  })
  return `Ostiary ${VERSION}: ostiary <command> [options]

${sections.join('\n\n')}

ostiary help <command>, or <command> --help, shows its options. Every command takes --json.
${EXIT_CODES}
ostiary login stores an address and a key; the machine’s settings come from the environment: docs/cli.md`
}

export function groupHelp(group: string, terminal: Terminal): string {
  const entries = commandsUnder(group)
  const width = Math.max(...entries.map(({ name }) => name.length))
  return `${lines(entries, width, terminal).join('\n')}\n\nostiary help ${group} <command> shows its options.`
}

export function commandHelp(entry: CommandEntry, command: Command, terminal: Terminal): string {
  const more = commandsUnder(entry.name)
  const own = `${entry.summary}.\n\n${command.usage}`
  return more.length === 0 ? own : `${own}\n\nAlso:\n${groupHelp(entry.name, terminal)}`
}

/** A summary moves to a line of its own where the screen is too narrow for both. */
function lines(entries: readonly CommandEntry[], width: number, terminal: Terminal): string[] {
  return entries.map(({ name, summary }) => {
    const line = `  ${name.padEnd(width)}  ${summary}`
    return terminal.columns !== undefined && line.length > terminal.columns ? `  ${name}\n      ${summary}` : line
  })
}

/** Lists only the commands of the same group: a list of all commands would scroll the message off the screen. */
export function noSuchCommand(argv: readonly string[]): string {
  const words = wordsOf(argv)
  const depth = words.findLastIndex((_, at) => commandsUnder(words.slice(0, at + 1).join(' ')).length > 0)
  const group = words.slice(0, depth + 1).join(' ')
  const verbs = [...new Set(verbsAfter(group))]
  const wrong = words[depth + 1] ?? argv[0] ?? ''
  const guess = closest(wrong, verbs)
  const typed = `There is no command "${[group, wrong].join(' ').trim()}".`
  if (guess !== undefined) return `${typed} Did you mean ${[group, guess].join(' ').trim()}?`
  return `${typed} ${group === '' ? '"ostiary help" names all.' : `After "ostiary ${group}" comes ${verbs.join(', ')}.`}`
}

/** The words that can follow: those of the first level when nothing is typed yet. */
function verbsAfter(group: string): string[] {
  if (group === '') return ['help', 'version', ...COMMANDS.map(({ name }) => name.split(' ')[0] ?? '')]
  return commandsUnder(group).map(({ name }) => name.slice(group.length + 1).split(' ')[0] ?? '')
}

/** What `--help --json` prints of each command. */
export function entryFacts({ name, summary, needs }: CommandEntry): object {
  return { name, summary, needs }
}

export function commandFacts(entry: CommandEntry, { usage, options = {}, values = {}, words }: Command): object {
  return {
    ...entryFacts(entry),
    usage,
    options: Object.entries(options).map(([name, { type }]) => ({
      name: `--${name}`,
      takesValue: type === 'string',
      ...(values[name] && { values: values[name] }),
    })),
    ...(words && { words }),
  }
}
