import type { OnUnreadable } from './platform/key-vault.ts'
import type { Wire } from './wire.ts'

/** Everything that the master key has sealed: API keys, the tenants' keys of area E and of webhooks, tokens, sessions and their webhooks. */
export function createSecrets({ keys, biometrics, matcher, sessions, webhooks }: Sealers) {
  return {
    /** How many secrets each master key has sealed. */
    async countByMasterKey(): Promise<Map<string, number>> {
      const counts = await keys.service.countByMasterKey()
      const others = [biometrics.groups, matcher.secrets, sessions.secrets, webhooks.webhookKeys, webhooks.service]
      for (const sealer of others) {
        for (const [id, count] of await sealer.countByMasterKey()) counts.set(id, (counts.get(id) ?? 0) + count)
      }
      return counts
    },
    /** How many messages of webhooks each master key has sealed. `reseal` leaves these. */
    countMessagesByMasterKey: () => webhooks.service.countByMasterKey(),
    /**
     * Reseals with the current master key what an older one sealed. Safe to interrupt and to run twice. A row that cannot be opened is
     * reported and passed over. Messages of webhooks are not resealed: they are deleted with their sessions, and the older key is
     * needed until then.
     */
    async reseal(onProgress: (done: number) => void, onUnreadable: OnUnreadable = () => {}): Promise<number> {
      let all = await keys.service.reseal(onProgress, onUnreadable)
      for (const sealer of [biometrics.groups, matcher.secrets, sessions.secrets, webhooks.webhookKeys]) {
        all += await sealer.reseal(onUnreadable)
        onProgress(all)
      }
      return all
    },
  }
}
type Sealers = Pick<Wire, 'keys' | 'biometrics' | 'matcher' | 'sessions' | 'webhooks'>
export type Secrets = ReturnType<typeof createSecrets>
