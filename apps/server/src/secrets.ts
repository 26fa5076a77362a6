import type { Wire } from './wire.ts'

/** Everything that the master key has sealed: API keys, and the tenants' keys of area E. */
export function createSecrets({ keys, node }: Pick<Wire, 'keys' | 'node'>) {
  return {
    /** How many secrets each master key has sealed. */
    async countByMasterKey(): Promise<Map<string, number>> {
      const counts = await keys.countByMasterKey()
      for (const [id, count] of await node.groups.countByMasterKey()) counts.set(id, (counts.get(id) ?? 0) + count)
      return counts
    },
    /** Seals with the current master key what an older one sealed. Safe to interrupt and to run twice. */
    async reseal(onProgress: (done: number) => void): Promise<number> {
      const resealed = await keys.reseal(onProgress)
      const all = resealed + (await node.groups.reseal())
      onProgress(all)
      return all
    },
  }
}
export type Secrets = ReturnType<typeof createSecrets>
