import type { ModelThresholds } from './models.ts'
import type { Neighbour } from './store.ts'

/** The people with a vector near enough to count (models.ts). */
export function nearbyOf({ nearMin }: Pick<ModelThresholds, 'nearMin'>, neighbours: readonly Neighbour[]): string[] {
  return [...new Set(neighbours.filter(({ cosine }) => cosine >= nearMin).map(({ personId }) => personId))]
}
