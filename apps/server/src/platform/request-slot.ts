import type { FastifyRequest } from 'fastify'

/** A private property of requests for one room. No other room can read it. */
export interface RequestSlot<T> {
  get(request: FastifyRequest): T | undefined
  set(request: FastifyRequest, value: T): void
}

/** A symbol property, because a WeakMap entry per request costs the garbage collector too much. */
export function createRequestSlot<T>(name: string): RequestSlot<T> {
  const key = Symbol(name)
  return {
    get: (request) => (request as unknown as Record<symbol, T | undefined>)[key],
    set: (request, value) => {
      ;(request as unknown as Record<symbol, T>)[key] = value
    },
  }
}
