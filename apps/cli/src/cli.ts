import { parseArgs } from 'node:util'
import { AppError, ConfigError, type Environment, VERSION } from '@ostiary/server/operate'
import { type Command, UsageError } from './command.ts'
import { clientCommands } from './commands/clients.ts'
import { datasetCommands } from './commands/datasets.ts'
import { exceptionCommands } from './commands/exceptions.ts'
import { keyCommands } from './commands/keys.ts'
import { machineCommands } from './commands/machine.ts'
import { nodeCommands } from './commands/node.ts'
import { riskCommands } from './commands/risk.ts'
import { screenCommands } from './commands/screen.ts'
import { settingsCommands } from './commands/settings.ts'
import { simulateCommands } from './commands/simulate.ts'
import { tenantCommands } from './commands/tenants.ts'
import type { Terminal } from './terminal.ts'

/** The command line's table of contents. */
export const COMMANDS: readonly Command[] = [
  ...machineCommands,
  ...tenantCommands,
  ...settingsCommands,
  ...keyCommands,
  ...clientCommands,
  ...nodeCommands,
  ...datasetCommands,
  ...screenCommands,
  ...exceptionCommands,
  ...simulateCommands,
  ...riskCommands,
]

/** Runs one command line and returns the exit code: 0 done, 1 not possible, 2 not understood; `screen` has one more. */
export async function runCli(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  if (argv[0] === 'version' || argv[0] === '--version') {
    terminal.out(VERSION)
    return 0
  }
  const command = COMMANDS.find(({ name }) => argv.slice(0, name.split(' ').length).join(' ') === name)
  if (!command) {
    const asked = argv.length === 0 || ['help', '--help', '-h'].includes(argv[0] ?? '')
    if (!asked) terminal.err(`There is no command "${argv.slice(0, 2).join(' ')}".\n`)
    terminal[asked ? 'out' : 'err'](overview())
    return asked ? 0 : 2
  }
  try {
    const { values, positionals } = parseArgs({
      args: argv.slice(command.name.split(' ').length),
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, ...command.options },
      allowPositionals: true,
    })
    if (values.help) {
      terminal.out(`${command.summary}.\n\n${command.usage}`)
      return 0
    }
    return await command.run({ args: positionals, options: values, env, terminal })
  } catch (error) {
    return explain(error, command, terminal)
  }
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  const lines = COMMANDS.map(({ name, summary }) => `  ostiary ${name.padEnd(width)}  ${summary}`)
  return `Ostiary ${VERSION}: operate an installation from its machine.\n\n${lines.join('\n')}\n\nostiary <command> --help tells more. Settings come from the environment: docs/configuration.md`
}

function explain(error: unknown, command: Command, terminal: Terminal): number {
  if (error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) {
    terminal.err(`${(error as Error).message}\n\n${command.usage}`)
    return 2
  }
  if (error instanceof ConfigError) terminal.err(error.message)
  else if (error instanceof AppError) terminal.err(`${error.message}. "ostiary doctor" checks the whole installation.`)
  else if (error instanceof Error) terminal.err(`Failed: ${error.message}`)
  return 1
}
