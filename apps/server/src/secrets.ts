import type { Wire } from './wire.ts'

/** Everything that the master key has sealed: API keys, the tenants' keys of area E, sessions and their webhooks. */
export function createSecrets({ keys, biometrics, sessions, webhooks }: Sealers) {
  return {
    /** How many secrets each master key has sealed. */
    async countByMasterKey(): Promise<Map<string, number>> {
      const counts = await keys.service.countByMasterKey()
      for (const sealer of [biometrics.groups, sessions.secrets, webhooks.service]) {
        for (const [id, count] of await sealer.countByMasterKey()) counts.set(id, (counts.get(id) ?? 0) + count)
      }
      return counts
    },
    /**
     * Reseals with the current master key what an older one sealed. Safe to interrupt and to run twice. Webhooks are not resealed:
     * they are deleted with their sessions, and the older key is needed until then.
     */
    async reseal(onProgress: (done: number) => void): Promise<number> {
      const resealed = await keys.service.reseal(onProgress)
      const all = resealed + (await biometrics.groups.reseal()) + (await sessions.secrets.reseal())
      onProgress(all)
      return all
    },
  }
}
type Sealers = Pick<Wire, 'keys' | 'biometrics' | 'sessions' | 'webhooks'>
export type Secrets = ReturnType<typeof createSecrets>
