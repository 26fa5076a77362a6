import { Resolver } from 'node:dns/promises'
import { BoundedMap } from '../bounded-map.ts'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'

export interface ResolverOptions {
  /** Name servers to ask instead of the system's. */
  servers?: readonly string[]
  timeoutMs?: number
  /** Queries that may be open at once; further names wait for a free slot. */
  openMax?: number
  /** The most that one owner gets of them. */
  perOwner?: number
  /** How long a name that could not be resolved is not queried again. */
  failedMs?: number
}

/** All addresses of a name. Names that one owner asks for, and that are never answered, do not delay those of others. */
export type Lookup = (host: string, owner: string) => Promise<readonly string[]>

const FAILED_MAX = 10_000
/** The system's list of name servers is read again after this time, because it may change while we run. */
const SERVERS_MS = 60_000

/**
 * Finds all addresses of a name by querying the name servers directly. The system's own function (`dns.lookup`) blocks one of four
 * threads that files and cryptography need too: four names whose servers do not answer would block all outbound calls of
 * this process. Names of the local network and of the hosts file may not be called anyway (target.ts).
 * IPv4 comes first, because some networks announce IPv6 without routing it.
 */
export function createResolver(options: ResolverOptions = {}): Lookup {
  const { timeoutMs = 2_000, openMax = 200, perOwner = Math.ceil(openMax / 4), failedMs = 5_000 } = options
  const failed = new BoundedMap<string, { error: unknown; untilMs: number }>(FAILED_MAX)
  const { withSlot } = createFairSlots({ total: openMax, perOwner })
  let current: { resolver: Resolver; madeMs: number } | undefined

  function resolver(): Resolver {
    if (!current || performance.now() - current.madeMs > SERVERS_MS) {
      current = { resolver: new Resolver({ timeout: timeoutMs, tries: 1 }), madeMs: performance.now() }
      if (options.servers) current.resolver.setServers(options.servers)
    }
    return current.resolver
  }

  async function ask(host: string): Promise<readonly string[]> {
    const asked = resolver()
    const [four, six] = await Promise.allSettled([asked.resolve4(host), asked.resolve6(host)])
    const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (found.length > 0) return found
    // When one record type does not exist and the query for the other failed, the failed query is the reason.
    throw (
      [four, six].map((one) => one.status === 'rejected' && one.reason).find((reason) => !isMissing(reason)) ??
      Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    )
  }

  return async (host, owner) => {
    const known = failed.get(host)
    if (known && known.untilMs > performance.now()) throw known.error
    failed.delete(host)
    try {
      return await withSlot(owner, () => ask(host))
    } catch (error) {
      failed.set(host, { error, untilMs: performance.now() + failedMs })
      throw error
    }
  }
}

function isMissing(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | undefined)?.code
  return code === 'ENOTFOUND' || code === 'ENODATA'
}
