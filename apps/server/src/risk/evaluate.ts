import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  PRIVACY_TOOL_MAX,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  RISK_LEVELS,
  RISK_POLICY_VERSION,
  type RiskEvaluation,
  type RiskFlagCode,
  type RiskOverrides,
  type RiskSignal,
  type RiskSource,
} from '@ostiary/contract'

/** A raised flag. `weight` limits its weight under softening circumstances; a flag with such a limit has no floor. */
export interface RiskFlag {
  code: RiskFlagCode
  weight?: number
}

export interface RiskInput {
  flags: readonly RiskFlag[]
  /** Whether browser data arrived. Without it `signals.browser` is null, never zeros. */
  browserEvaluated: boolean
  /** Whether the behaviour during a face scan was evaluated. Area D does not evaluate it. */
  behavioralEvaluated: boolean
  /** A test key chose how the session ended, so there was nothing to evaluate. */
  simulated?: boolean
  overrides?: RiskOverrides | undefined
}

/** What one flag adds under a policy. */
export interface Contribution {
  code: RiskFlagCode
  source: RiskSource
  weight: number
  floor: number
}

/**
 * The composite risk of a session. Flags of a source that was not evaluated or is not turned on, and flags that the tenant
 * switched off, are left out everywhere, so that score, flags and signals always agree. Flags that always count are the exception:
 * without their source they stand in `flags` only.
 */
export function evaluateRisk({
  flags,
  browserEvaluated,
  behavioralEvaluated,
  simulated = false,
  overrides = {},
}: RiskInput): RiskEvaluation {
  const sources = new Set<RiskSource>(overrides.sources)
  if (browserEvaluated) sources.add('browser')
  if (behavioralEvaluated) sources.add('behavioral')
  const counted = contributions(flags, overrides).filter(
    ({ code, source }) => sources.has(source) || RISK_FLAGS[code].alwaysCounts,
  )
  const signalOf = (source: RiskSource) => summarise(counted.filter((flag) => flag.source === source))
  const whole = summarise(counted)
  const { level, recommendation } = levelOf(whole.score)
  // The score is 0 because nobody looked, and that is no reason to let somebody pass.
  const isUnjudged = !browserEvaluated && !behavioralEvaluated && !simulated
  const evaluation: RiskEvaluation = {
    score: whole.score,
    level,
    recommendation: level === 'HIGH' && overrides.highBlocks ? 'BLOCK' : recommendation,
    flags: whole.flags,
    signals: {
      behavioral: behavioralEvaluated ? signalOf('behavioral') : null,
      browser: browserEvaluated ? signalOf('browser') : null,
      ...(sources.has('network') ? { network: signalOf('network') } : {}),
      ...(sources.has('handoff') ? { handoff: signalOf('handoff') } : {}),
    },
    policyVersion: policyVersion(overrides),
  }
  return isUnjudged ? withoutVerdict(evaluation) : evaluation
}

/** Where there is no verdict, clean signs are no reason to let somebody pass: a host may read the recommendation alone. */
export function withoutVerdict(evaluation: RiskEvaluation): RiskEvaluation {
  return evaluation.recommendation === 'ALLOW' ? { ...evaluation, recommendation: 'REVIEW' } : evaluation
}

/** The same flags under two policies, for a tenant who is about to change weights. */
export function dryRun(
  flags: readonly RiskFlag[],
  current: RiskOverrides,
  proposed: RiskOverrides,
): { current: RiskEvaluation; proposed: RiskEvaluation } {
  const input = { flags, browserEvaluated: true, behavioralEvaluated: true }
  return {
    current: evaluateRisk({ ...input, overrides: current }),
    proposed: evaluateRisk({ ...input, overrides: proposed }),
  }
}

/** Weight and floor of each raised flag, once each, in the order of the table. A flag raised twice counts as the stronger. */
export function contributions(flags: readonly RiskFlag[], overrides: RiskOverrides = {}): Contribution[] {
  return RISK_FLAG_CODES.flatMap((code) => {
    const raised = flags.filter((flag) => flag.code === code)
    if (raised.length === 0) return []
    const { source, ...table } = RISK_FLAGS[code]
    // The limit for privacy tools applies here too: stored overrides may be older than the flag's privacy mark.
    const ceiling = table.privacyTool ? PRIVACY_TOOL_MAX : 100
    const own = overrides.flags?.[code]
    const policyWeight = Math.min(own?.weight ?? table.weight, ceiling)
    const policyFloor = Math.min(own?.floor ?? table.floor, ceiling)
    const weight = Math.max(...raised.map((flag) => Math.min(flag.weight ?? policyWeight, policyWeight)))
    const floor = raised.some((flag) => flag.weight === undefined) ? policyFloor : 0
    return weight > 0 || floor > 0 ? [{ code, source, weight, floor }] : []
  })
}

function levelOf(score: number): (typeof RISK_LEVELS)[number] {
  const found = RISK_LEVELS.find(({ min }) => score >= min)
  assert(found, 'a score is a number from 0 to 100')
  return found
}

/**
 * Noisy-OR of the weights, rounded half up to a whole number, then raised to the highest floor. In whole numbers, because
 * floating-point products depend on their order and miss exact halves: 10 and 25 make 32.5, which they round to 32.
 */
function summarise(counted: readonly Contribution[]): RiskSignal {
  const all = 100n ** BigInt(counted.length)
  const clean = counted.reduce((product, { weight }) => product * BigInt(100 - weight), 1n)
  const composite = Number((200n * (all - clean) + all) / (2n * all))
  return { score: Math.max(composite, ...counted.map(({ floor }) => floor)), flags: counted.map(({ code }) => code) }
}

/** Includes a digest of the tenant's overrides, so that results with different weights have different versions. */
function policyVersion(overrides: RiskOverrides): string {
  const flags = RISK_FLAG_CODES.flatMap((code) => {
    const own = overrides.flags?.[code]
    return own?.weight === undefined && own?.floor === undefined ? [] : [[code, own.weight ?? null, own.floor ?? null]]
  })
  const sources = [...new Set(overrides.sources)].sort()
  const highBlocks = overrides.highBlocks ?? false
  if (flags.length === 0 && sources.length === 0 && !highBlocks) return RISK_POLICY_VERSION
  const digest = createHash('sha256')
    .update(JSON.stringify([flags, sources, highBlocks]))
    .digest('hex')
  return `${RISK_POLICY_VERSION}+${digest.slice(0, 8)}`
}
