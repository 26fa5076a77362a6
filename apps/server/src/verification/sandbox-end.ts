import { LOCKOUT } from '@ostiary/contract'
import { simulatedRecord } from '../documents/index.ts'
import { DEFAULT_DOCUMENT_POLICY } from '../settings/index.ts'
import type { SandboxEnd, VerificationRequest } from './request.ts'
import { simulatedId } from './simulated-ids.ts'
import type { VerificationEnd } from './types.ts'

/** Whose test session it is: every tenant has people of its own. */
interface Asked {
  tenantId: string
  request: VerificationRequest
}

/** How a test session ends without a person before a camera. */
export function sandboxEnd(outcome: SandboxEnd, { tenantId, request }: Asked, now: Date): VerificationEnd {
  switch (outcome) {
    case 'success':
      return {
        state: 'SUCCESS',
        person: { puid: puidOf(tenantId, request), guid: simulatedId(`${tenantId}/group`) },
        matchedBy: 'sandbox',
        ...(request.estimateAge && { estimatedAge: SANDBOX_AGE }),
        ...(request.requirements.includes('identity_document') && { document: documentOf(request, now) }),
        ...(request.sendImages && { selfie: GREY_JPEG }),
      }
    case 'spoof':
      return { state: 'FAILED', failures: ['SPOOF'] }
    case 'not_enrolled':
      return { state: 'FAILED', failures: ['USER_NOT_ENROLLED'] }
    case 'locked':
      return { state: 'FAILED', failures: ['TEMPORARILY_LOCKED'], retryAfterSeconds: LOCKOUT.waitSeconds[0] }
    case 'expired':
      return { state: 'EXPIRED' }
  }
}

const documentOf = ({ policy }: VerificationRequest, now: Date) =>
  simulatedRecord((policy.documents ?? DEFAULT_DOCUMENT_POLICY).types, now)

/** The same person at every session, so that a host can see who comes back; one per name that the host gives. */
function puidOf(tenantId: string, { person, customerId }: VerificationRequest): string {
  if (person && 'puid' in person) return person.puid
  const name = person ? person.customerId : (customerId ?? '')
  return simulatedId(`${tenantId}/person/${name}`)
}

const SANDBOX_AGE = 35

/** Sixteen by sixteen grey points. */
const GREY_JPEG =
  '/9j/4AAQSkZJRgABAgAAAQABAAD/2wBDAAg+Pkk+SVVVVVVVVWRdZGhoaGRkZGRoaGhwcHCDg4NwcHBoaHBwfHyDg4+Tj4eHg4eTk5ubm7q6' +
  'srLZ2eD/////xABKAAEAAAAAAAAAAAAAAAAAAAAAAQEAAAAAAAAAAAAAAAAAAAAAEAEAAAAAAAAAAAAAAAAAAAAAEQEAAAAAAAAAAAAAAA' +
  'AAAAAA/8AAEQgAEAAQAwEiAAIRAAMRAP/aAAwDAQACEQMRAD8AAA//2Q=='
