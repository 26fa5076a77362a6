import type { Dataset } from '@ostiary/contract'
import { AppError } from '../../platform/errors.ts'
import type { SnapshotFacts } from '../engine/snapshot.ts'
import { howToGet } from './published.ts'

export interface DescribedList {
  name: string
  facts: SnapshotFacts
  versions: string[]
  stale: boolean
}

export function describeDataset({ name, facts, versions, stale }: DescribedList): Dataset {
  const { title, entries, version, createdAt, licence } = facts
  return { name, title, entries, version, updatedAt: createdAt, licence, kind: 'list', stale, versions }
}

export function describeCollection(name: string, title: string, parts: readonly Dataset[]): Dataset {
  const version = parts.map((part) => `${part.name}@${part.version}`).join('+')
  return {
    name,
    title,
    entries: parts.reduce((sum, { entries }) => sum + entries, 0),
    version,
    updatedAt:
      parts
        .map(({ updatedAt }) => updatedAt)
        .sort()
        .at(-1) ?? '',
    licence: [...new Set(parts.map(({ licence }) => licence))].join('; '),
    kind: 'collection',
    stale: parts.some(({ stale }) => stale),
    members: parts.map((part) => part.name),
    versions: [version],
  }
}

export function unknownDataset(name: string, known: readonly Pick<Dataset, 'name'>[]): AppError {
  const names = known.map((dataset) => dataset.name).join(', ')
  const messages = [`must be one of ${names}`, howToGet(name)]
  const details = messages.map((message) => ({ pointer: '/path/dataset', message }))
  return new AppError('not_found', 'UNKNOWN_DATASET', 'Unknown dataset', { details })
}
