import type { FastifyRequest } from 'fastify'

/** Whether the caller has exactly these bytes already. */
export function isKnown({ headers }: Pick<FastifyRequest, 'headers'>, etag: string): boolean {
  const held = String(headers['if-none-match'] ?? '')
  return held.trim() === '*' || held.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}
