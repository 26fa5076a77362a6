/** What the commands about datasets print. */
import type { BuildProgress, DatasetOverview, ImportOutcome } from '@ostiary/server/operate'
import { table } from '../terminal.ts'

/** What an import did. */
export function summarise(name: string, outcome: ImportOutcome): string[] {
  const { state, version, serving, canServe, facts, removed } = outcome
  if (state === 'unchanged' && serving !== version) {
    const way = canServe ? `ostiary datasets rollback ${name} --to ${version}` : 'import it with --force'
    return [
      `${name}: this list ${canServe ? 'is here' : 'was here'} as ${version}, but a rollback put ${serving} into service.`,
      `To put it into service again: ${way}`,
    ]
  }
  if (state === 'unchanged') return [`${name}: nothing to do, the same list already serves as ${version}`]
  const left = Object.entries(facts.skipped).map(([reason, number]) => `${count(number)} ${reason}`)
  return [
    `${name}: version ${version} serves, ${count(facts.entries)} entries with ${count(facts.names)} names`,
    ...(left.length > 0 ? [`left out: ${left.join(', ')}`] : []),
    ...(removed.length > 0 ? [`removed: ${removed.join(', ')}`] : []),
  ]
}

const STAGES = { reading: 'reading', indexing: 'building the index', checking: 'checking it' } as const

export function describeProgress(name: string, { stage, bytes, totalBytes, entities }: BuildProgress): string {
  const share = stage === 'reading' ? Math.min(1, totalBytes ? bytes / totalBytes : 0) : 1
  const bar = '█'.repeat(Math.round(share * 24)).padEnd(24, '░')
  return `${name} ${bar} ${Math.floor(share * 100)} %  ${count(entities)} entries, ${STAGES[stage]}`
}

export function overview(found: readonly DatasetOverview[]): string {
  const rows = found.map(({ dataset, current, versions, facts, bytes, checkedAt, stale }) => [
    dataset.tenantId === null ? dataset.name : `${dataset.name} (${dataset.tenantId})`,
    facts ? count(facts.entries) : '-',
    current ?? 'none',
    facts ? megabytes(bytes) : 'cannot be read',
    String(versions.length),
    facts?.kind ?? '-',
    facts?.licence ?? '-',
    `${checkedAt?.slice(0, 16).replace('T', ' ') ?? '-'}${stale ? ' (stale)' : ''}`,
  ])
  return table(['DATASET', 'ENTRIES', 'VERSION', 'SIZE', 'VERSIONS', 'KIND', 'LICENCE', 'CHECKED (UTC)'], rows)
}

export const count = (value: number) => value.toLocaleString('en-US')

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
}
