/**
 * What the package `@ostiary/cli` has instead of the commands that need the machine: they use the database and the master key, which only the
 * machine of an installation has (decision 0004). tools/packages puts this in their place.
 */
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'

const where = (words: string) => `"ostiary ${words}" runs on the installation’s machine: npm run ostiary -- ${words}`

/** Each says where it runs. */
export function machineCommands(): Command[] {
  return COMMANDS.filter(({ needs }) => needs === 'machine').map(({ name }) => ({
    name,
    usage: where(name),
    async run({ terminal }) {
      terminal.err(where(name))
      return 2
    },
  }))
}

/** Why this command line cannot run from a package, before its options are read: this package does not know them. */
export function refusalOf(argv: readonly string[]): string | undefined {
  const named = COMMANDS.filter(({ name }) => argv.slice(0, name.split(' ').length).join(' ') === name)
  const [entry] = named.toSorted((one, other) => other.name.length - one.name.length)
  const asksForHelp = argv.includes('--help') || argv.includes('-h')
  return entry?.needs === 'machine' && !asksForHelp ? where(entry.name) : undefined
}
