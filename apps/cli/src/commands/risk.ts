import { readFile } from 'node:fs/promises'
import {
  isRiskFlagCode,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  type RiskEvaluation,
  type RiskFlagCode,
  type RiskOverrides,
} from '@ostiary/contract'
import { AppError, contributions, dryRun, parseOverrides } from '@ostiary/server/operate'
import { type Command, fileOf, type Invocation, UsageError } from '../command.ts'
import { table } from '../terminal.ts'

export const riskCommands: readonly Command[] = [
  {
    name: 'risk explain',
    usage: `ostiary risk explain <flag>... [--weights <file.json>] [--json]

The file holds what a tenant may change: {"flags": {"BR_WEBGL": {"weight": 10, "floor": 0}}, "highBlocks": true,
"sources": ["network", "handoff"]}. With it, the result is shown under the default policy and under the changed one.`,
    options: { weights: { type: 'string' } },
    words: RISK_FLAG_CODES,
    run: explain,
  },
  {
    name: 'risk list',
    usage: 'ostiary risk list [--json]',
    async run({ terminal, options }) {
      const rows = RISK_FLAG_CODES.map((code) => ({ code, ...RISK_FLAGS[code] }))
      if (options.json) terminal.out(JSON.stringify(rows))
      else {
        const cells = rows.map(({ code, source, weight, floor, cause }) => [
          code,
          source,
          String(weight),
          shownFloor(floor),
          cause,
        ])
        terminal.out(table(['FLAG', 'SOURCE', 'WEIGHT', 'FLOOR', 'CAUSE'], cells))
      }
      return 0
    },
  },
]

async function explain(invocation: Invocation): Promise<number> {
  const { terminal, options } = invocation
  const codes = flagsOf(invocation.args)
  const file = fileOf(invocation, 'weights')
  const changes = file === undefined ? undefined : await readOverrides(file)
  const flags = codes.map((code) => ({ code }))
  const { current, proposed } = dryRun(flags, {}, changes ?? {})
  if (options.json) {
    const shown = codes.map((code) => ({
      code,
      ...RISK_FLAGS[code],
      ...(changes ? { proposed: effect(code, changes) } : {}),
    }))
    terminal.out(JSON.stringify({ flags: shown, current, ...(changes ? { proposed } : {}) }))
    return 0
  }
  terminal.out(flagTable(codes, changes ?? {}))
  terminal.out('')
  for (const code of codes.filter((known) => !isCounted(known, changes ?? {}))) {
    const { source } = RISK_FLAGS[code]
    terminal.out(`${code} does not count: the source ${source} is off ("sources": ["${source}"] turns it on)`)
  }
  for (const line of resultLines(changes ? 'by default:' : 'result:', current)) terminal.out(line)
  if (changes) for (const line of resultLines(`with ${file}:`, proposed)) terminal.out(line)
  return 0
}

function flagsOf(args: readonly string[]): RiskFlagCode[] {
  if (args.length === 0) throw new UsageError('Name at least one flag; "ostiary risk list" shows them')
  const codes = args.map((arg) => {
    const code = arg.toUpperCase()
    if (!isRiskFlagCode(code)) throw new UsageError(`There is no flag "${arg}"; "ostiary risk list" shows them`)
    return code
  })
  return RISK_FLAG_CODES.filter((code) => codes.includes(code))
}

async function readOverrides(file: string): Promise<RiskOverrides> {
  const content = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`--weights: ${file} cannot be read`)
  })
  try {
    return parseOverrides(JSON.parse(content))
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`--weights: ${file} is not JSON`)
    if (error instanceof AppError) throw new UsageError(`--weights: ${error.message}`)
    throw error
  }
}

function flagTable(codes: readonly RiskFlagCode[], changes: RiskOverrides): string {
  const rows = codes.map((code) => {
    const { source, weight, floor, cause } = RISK_FLAGS[code]
    const after = effect(code, changes)
    return [
      code,
      source,
      changed(String(weight), String(after.weight)),
      changed(shownFloor(floor), shownFloor(after.floor)),
      cause,
    ]
  })
  return table(['FLAG', 'SOURCE', 'WEIGHT', 'FLOOR', 'CAUSE'], rows)
}

/** Weight and floor under a policy; both 0 when the policy switches the flag off. */
function effect(code: RiskFlagCode, changes: RiskOverrides): { weight: number; floor: number } {
  const [found] = contributions([{ code }], changes)
  return { weight: found?.weight ?? 0, floor: found?.floor ?? 0 }
}

function isCounted(code: RiskFlagCode, { sources = [] }: RiskOverrides): boolean {
  const { source } = RISK_FLAGS[code]
  const isOptional = source === 'network' || source === 'handoff'
  return !isOptional || sources.includes(source)
}

function resultLines(
  title: string,
  { score, level, recommendation, signals, policyVersion }: RiskEvaluation,
): string[] {
  const parts = Object.entries(signals).map(([source, signal]) => `${source} ${signal?.score ?? 'not evaluated'}`)
  return [
    `${title} score ${score}, level ${level}, recommendation ${recommendation}`,
    `  by source: ${parts.join(', ')} (policy ${policyVersion})`,
  ]
}

const changed = (before: string, after: string) => (before === after ? before : `${before} → ${after}`)
const shownFloor = (floor: number) => (floor === 0 ? '-' : String(floor))
