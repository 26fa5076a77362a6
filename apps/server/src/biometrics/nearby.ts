import type { ModelVersion } from '@ostiary/contract'
import { THRESHOLDS } from './models.ts'
import type { Neighbour } from './store.ts'

/** The people with a vector near enough to count (models.ts). */
export function nearbyOf(version: ModelVersion, neighbours: readonly Neighbour[]): string[] {
  const { nearMin } = THRESHOLDS[version]
  return [...new Set(neighbours.filter(({ cosine }) => cosine >= nearMin).map(({ personId }) => personId))]
}
