import type { FastifyRequest } from 'fastify'

/** A place on a request where one room keeps something of its own. Nobody else can reach it. */
export interface RequestSlot<T> {
  get(request: FastifyRequest): T | undefined
  set(request: FastifyRequest, value: T): void
}

/** A symbol property: a WeakMap entry per request costs the garbage collector more than the request can afford. */
export function createRequestSlot<T>(name: string): RequestSlot<T> {
  const key = Symbol(name)
  return {
    get: (request) => (request as unknown as Record<symbol, T | undefined>)[key],
    set: (request, value) => {
      ;(request as unknown as Record<symbol, T>)[key] = value
    },
  }
}
