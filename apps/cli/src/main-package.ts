#!/usr/bin/env node
import { refusalOf } from './package-commands.ts'

const argv = process.argv.slice(2)
const refusal = refusalOf(argv)
if (refusal === undefined) await import('./main.ts')
else {
  const json = argv.includes('--json')
  process.stderr.write(`${json ? JSON.stringify({ error: { message: refusal, exitCode: 2 } }) : refusal}\n`)
  process.exitCode = 2
}
