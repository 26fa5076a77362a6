#!/usr/bin/env node
import { runCli } from './cli.ts'
import { readInstallation } from './installation.ts'
import { letReadersLeave, processTerminal } from './terminal.ts'

letReadersLeave(process.stdout, process.stderr)
process.exitCode = await runCli(process.argv.slice(2), readInstallation(process.env), processTerminal)
