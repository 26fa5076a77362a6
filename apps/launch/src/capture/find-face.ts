import { createGuide, type SeenFace } from '@ostiary/faces'
import { type CaptureDeps, CaptureFailure } from './capture-types.ts'
import { glance } from './glance.ts'
import { createPlacement } from './placement.ts'

/**
 * Guides the user until the face is well placed, or until they start anyway. Returns the last faces seen: the face at rest.
 * Rejects with CaptureFailure if the face is never well placed.
 */
export async function findFace(deps: CaptureDeps, signal: AbortSignal): Promise<SeenFace[]> {
  const { camera, onView, startAnyway } = deps
  const guide = createGuide(camera)
  const placement = createPlacement()
  let resting: SeenFace[] = []
  onView(viewOf(null))
  while (!startAnyway.aborted) {
    const seen = await glance(deps, signal)
    if (!seen) continue
    const guidance = guide.next(seen.sighting, seen.atMs)
    onView(viewOf(guidance))
    if (guidance !== 'in_oval') resting = []
    else if (seen.sighting.face) resting.push(seen.sighting.face)
    const placed = placement.note(guidance, seen.atMs)
    if (placed.is === 'placed') break
    if (placed.is === 'given_up') throw new CaptureFailure(placed.code, placed.reason)
  }
  return resting
}

function viewOf(guidance: Parameters<CaptureDeps['onView']>[0]['guidance']) {
  return { phase: 'find', guidance, movement: null, movementsSeen: 0, movementsTotal: 0, progress: 0 } as const
}
