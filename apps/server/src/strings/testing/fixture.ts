import type { LightMyRequestResponse } from 'fastify'
import { createHarness } from '../../testing/harness.ts'

/** The id of no string. */
export const UNKNOWN_ID = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
export const IS_UNKNOWN = [404, 'NOT_FOUND', 'There is no string with this id'] as const
export const IS_WRONG_KEY = [401, 'INVALID_API_KEY', 'Invalid API key'] as const

/** A service and a tenant that calls it with its key. */
export async function createStringsFixture() {
  const harness = await createHarness()
  const { key, tenantId } = await harness.tenantWithKey()
  const withKey = (more: Record<string, string> = {}) => ({ 'x-api-key': key, ...more })
  const create = (payload: unknown, headers: Record<string, string> = withKey()): Promise<LightMyRequestResponse> =>
    harness.inject({ method: 'POST', url: '/strings', headers, payload: payload as object })
  return { harness, key, tenantId, withKey, create }
}
