/** Tables that documents have from the contract. */
import {
  CAMERA_FAIL_REASONS,
  CIRCUMSTANCES,
  DEVICE_REPORTABLE,
  ERRORS,
  INDICATOR_PATHS,
  NODE_ERRORS,
  NODE_STATUSES,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  RISK_LEVELS,
  RISK_RECOMMENDATIONS,
  type RiskSource,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  type SessionCodeName,
} from '@ostiary/contract'
import { SIGNAL_READINGS } from '@ostiary/launch/conformance'
import { table } from './table.ts'

const meanings = (head: string, names: Readonly<Record<string, string>>) =>
  table(
    `${head} | Means`,
    Object.entries(names).map(([name, meaning]) => [`\`${name}\``, meaning]),
  )

export const CONTRACT_TABLES: Record<string, Record<string, string>> = {
  'docs/errors.md': { errors: errors(), statuses: nodeStatuses(), 'node-errors': nodeErrors() },
  'docs/risk-flags.md': {
    recommendations: meanings('`recommendation`', RISK_RECOMMENDATIONS),
    levels: levels(),
    browser: flags('browser'),
    behavioral: flags('behavioral'),
    handoff: flags('handoff'),
    network: flags('network'),
    document: flags('document'),
    indicators: indicators(),
  },
  'docs/session-codes.md': { codes: sessionCodes(), reasons: meanings('Reason', CAMERA_FAIL_REASONS) },
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, meaning, remedy }]) => [
    `\`${code}\``,
    status,
    meaning,
    remedy,
  ])
  return table('Code | Status | Meaning | What to do', rows)
}

function nodeStatuses(): string {
  const rows = Object.entries(NODE_STATUSES).sort(([a], [b]) => Number(a) - Number(b))
  return table('Status | Meaning', rows)
}

function nodeErrors(): string {
  const rows = Object.entries(NODE_ERRORS).map(([code, { http, status, message, meaning }]) => [
    `\`${code}\``,
    http,
    status,
    `\`${message}\``,
    meaning,
  ])
  return table('Code | HTTP | `status` | Message | Meaning', rows)
}

function levels(): string {
  const rows = RISK_LEVELS.map(({ level, min, recommendation }, index) => {
    const above = RISK_LEVELS[index - 1]
    return [`${min} to ${above === undefined ? 100 : above.min - 1}`, `\`${level}\``, `\`${recommendation}\``]
  })
  return table('Score | `level` | `recommendation`', rows.reverse())
}

function flags(source: RiskSource): string {
  const rows = RISK_FLAG_CODES.filter((code) => RISK_FLAGS[code].source === source).map((code) => {
    const { weight, floor, cause, falsePositive, indicator, softened, privacyTool } = RISK_FLAGS[code]
    const softer = softened ? ` Weight ${softened.weight} when ${CIRCUMSTANCES[softened.when]}.` : ''
    return [
      `\`${code}\`${privacyTool ? ' ¹' : ''}`,
      indicator === undefined ? cause : `${cause} \`${indicator}\``,
      weight,
      floor || '-',
      falsePositive + softer,
    ]
  })
  return table('Flag | Raised by | Weight | Floor | Honest causes', rows)
}

function indicators(): string {
  const rows = INDICATOR_PATHS.map((path) => {
    const { suspicious, notEvaluated } = SIGNAL_READINGS[path]
    return [`\`${path}\``, suspicious, notEvaluated || '-']
  })
  return table('Indicator | Suspicious | Not evaluated', rows)
}

function sessionCodes(): string {
  const kinds = { F: 'ends', D: 'noted', 'F*': 'ends after the last try' } as const
  const device = new Set<SessionCodeName>(DEVICE_REPORTABLE)
  const rows = SESSION_CODE_NAMES.map((name) => {
    const { code, kind, meaning, host, message } = SESSION_CODES[name]
    return [code, `\`${name}\`${device.has(name) ? ' ¹' : ''}`, kinds[kind], meaning, host, message]
  })
  return table('Code | Name | Kind | Meaning | What to do | `message` in D', rows)
}
