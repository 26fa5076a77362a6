import type { StoredTable } from './platform/room.ts'
import type { Wire } from './wire.ts'

/** Every table with the room that owns it. The documents about stored data are generated from this. */
export function listTables(wire: Wire): readonly (StoredTable & { room: string })[] {
  const { platform, keys, settings, strings, sanctions, sessions } = wire
  const { documents, verification, passkeys, matcher, webhooks, biometrics } = wire
  const owners = {
    keys,
    settings,
    strings,
    sanctions,
    sessions,
    documents,
    verification,
    passkeys,
    matcher,
    webhooks,
    biometrics,
    platform,
  }
  return Object.entries(owners).flatMap(([room, { retention }]) => retention.map((table) => ({ room, ...table })))
}
