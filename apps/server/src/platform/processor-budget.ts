import { PROCESSOR_BUDGETS } from '@ostiary/contract'
import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'
import type { RateLimiter } from './rate-limit.ts'

interface Deps {
  limiter: RateLimiter
  addressLimiter: RateLimiter
  clock: Clock
}

/** Whose processor time it is. */
export interface Payer {
  keyId?: string | undefined
  rateFactor: number
}

/** The processor time of one payer. */
export interface ProcessorTime {
  /** Throws 429 while more is owed than may be saved up. */
  ask(): void
  /** After the work: a file that was accepted is finished, whatever it costs. */
  spend(cpuMs: number): void
}

export interface BudgetOptions {
  /** Processors that do this work, where they are not one. */
  processors?: number | undefined
  /** Stands for a payer without a key, such as a network. */
  sender?: string
}

/** Budgets of processor time, in this process only: another one has its own threads, and its own half of a processor of PostgreSQL. */
export function createProcessorBudgets({ limiter, addressLimiter, clock }: Deps) {
  return function processorTimeOf(
    budget: keyof typeof PROCESSOR_BUDGETS,
    { keyId, rateFactor }: Payer,
    { processors = 1, sender = '' }: BudgetOptions = {},
  ): ProcessorTime {
    const { cores, burstSeconds } = PROCESSOR_BUDGETS[budget]
    const table = keyId === undefined ? addressLimiter : limiter
    const name = `${budget}/${keyId ?? sender}`
    return {
      ask() {
        const waitMs = table.owed(name, clock.monotonicMs()) - burstSeconds * 1000
        if (rateFactor === Number.POSITIVE_INFINITY || waitMs <= 0) return
        throw new AppError('rate_limited', 'RATE_LIMITED', 'The processor time of these calls is used up for now', {
          retryAfterSeconds: Math.ceil(waitMs / 1000),
        })
      },
      spend(cpuMs) {
        if (rateFactor !== Number.POSITIVE_INFINITY)
          table.owe(name, cpuMs / (cores * processors * rateFactor), clock.monotonicMs())
      },
    }
  }
}
export type ProcessorTimeOf = ReturnType<typeof createProcessorBudgets>
