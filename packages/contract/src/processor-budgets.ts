/**
 * Processor time that the calls of one key may take, in processors, where the cost of a call depends on the tenant's data: it is asked before
 * the work and paid after it. A usage plan multiplies it like the rates. So much time may be saved up.
 */
export const PROCESSOR_BUDGETS = {
  /** Of PostgreSQL: searches of area E. */
  'node-search': { cores: 0.5, burstSeconds: 10 },
  /** Of each thread that screens: files and `match`. Callers without a key have it per network. */
  screening: { cores: 0.5, burstSeconds: 60 },
} as const
