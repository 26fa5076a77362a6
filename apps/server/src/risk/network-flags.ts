import type { RiskFlag } from './evaluate.ts'
import type { NetworkFacts } from './network-lists.ts'

/**
 * Where a device roughly is. Kept with the device in the sealed progress, to be compared with the second device of a handoff. The
 * address that it came from is not kept.
 */
export interface Place {
  /** By the operator's list: two capital letters. */
  country?: string
  /** By the device's own word: minutes east of Greenwich. */
  utcOffsetMinutes?: number
}

export function placeOf({ country }: NetworkFacts, utcOffsetMinutes: number | undefined): Place {
  return {
    ...(country !== null && { country }),
    ...(utcOffsetMinutes !== undefined && { utcOffsetMinutes }),
  }
}

interface BoundDevice {
  thumbprint: string
  place?: Place
}

/** What the devices of a session have to say about networks. */
interface Devices {
  holder: BoundDevice | null
  viewer: BoundDevice | null
  handoffs: number
}

/** The flags that a device raises when it opens a session, given the session's devices after that. */
export function networkFlags(devices: Devices, opening: { thumbprint: string; network: NetworkFacts }): RiskFlag[] {
  const { holder, viewer, handoffs } = devices
  const { tor, datacenter } = opening.network
  const isHolder = holder?.thumbprint === opening.thumbprint
  const flags: RiskFlag[] = []
  if (handoffs > 0 && areFarApart(holder?.place, viewer?.place)) flags.push({ code: 'HO_NETWORK_FAR' })
  if (isHolder && datacenter) flags.push({ code: 'NW_DATACENTER' })
  if (isHolder && tor) flags.push({ code: 'NW_TOR' })
  return flags
}

/** Two devices in one pair of hands are in one time zone; a wrong setting or a border explains an hour or two. */
const FAR_MINUTES = 180
const DAY_MINUTES = 24 * 60

/** Whether two places differ widely. What is known of one only cannot be compared. */
function areFarApart(one: Place = {}, other: Place = {}): boolean {
  const known = one.country !== undefined && other.country !== undefined
  if (known && one.country !== other.country) return true
  if (one.utcOffsetMinutes === undefined || other.utcOffsetMinutes === undefined) return false
  const minutes = Math.abs(one.utcOffsetMinutes - other.utcOffsetMinutes) % DAY_MINUTES
  // Across the date line +14:00 and -10:00 are the same time of day.
  return Math.min(minutes, DAY_MINUTES - minutes) >= FAR_MINUTES
}
