import type { VerificationRequirement } from '@ostiary/contract'
import type { PinnedChallenge } from '../capture-checks/index.ts'

/** What every area's request has: the part that the device's side of a session reads. */
export interface SharedRequest {
  redirectUrl: string
  enableDesktop: boolean
  locale: string | null
  requirements: readonly VerificationRequirement[]
  pinned?: PinnedChallenge | null
  /** `number`: by a code and the number on the first screen. Absent in sessions of the last release, which showed no number. */
  handoff?: 'number' | 'forbidden'
  policy: { defaultLocale: string }
  callback: { url: string; headers: Record<string, string> } | null
}

/** Makes the session's webhooks carry on the trace of the call that created it, unless the host gives the header itself. */
export function withTrace<R extends SharedRequest>(request: R, traceparent: string | undefined): R {
  const { callback } = request
  const isOwn = Object.keys(callback?.headers ?? {}).some((name) => name.toLowerCase() === 'traceparent')
  if (!callback || !traceparent || isOwn) return request
  return { ...request, callback: { ...callback, headers: { ...callback.headers, traceparent } } }
}
