import { DOCUMENT_CODES, LOCKOUT, SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import { simulatedRecord } from '../documents/index.ts'
import { invalid } from '../platform/errors.ts'
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

/** How a test session ends whose webhook is to have these codes: as a real one with them does. */
export function sandboxFailure(failures: readonly SessionCodeName[], asked: Asked, now: Date): VerificationEnd {
  const problem = failures.map((name) => misfit(name, asked.request)).find((found) => found !== undefined)
  if (problem !== undefined) throw invalid('/body/errors', problem)
  if (failures.includes('ALREADY_ENROLLED')) {
    if (failures.length > 1) throw invalid('/body/errors', 'with -37 must have no other code: the session succeeds')
    return { ...sandboxEnd('success', asked, now), notes: ['ALREADY_ENROLLED'] } as VerificationEnd
  }
  if (failures.every((name) => SESSION_CODES[name].kind === 'D')) {
    throw invalid('/body/errors', 'must have a code that ends the session, such as -19')
  }
  const isLocked = failures.includes('TEMPORARILY_LOCKED')
  return { state: 'FAILED', failures, ...(isLocked && { retryAfterSeconds: LOCKOUT.waitSeconds[0] }) }
}

/** Why such a session never has this code. */
function misfit(name: SessionCodeName, { type, requirements }: VerificationRequest): string | undefined {
  const { code } = SESSION_CODES[name]
  if (name === 'USER_NOT_ENROLLED' && type === 'ENROLL') return `cannot have ${code}: it is for SIGN-IN and VERIFY`
  if (name === 'ALREADY_ENROLLED' && type !== 'ENROLL') return `cannot have ${code}: it is for ENROLL`
  const asksDocument = requirements.includes('identity_document')
  return DOCUMENT_CODES.includes(name) && !asksDocument
    ? `cannot have ${code}: this session asks for no document`
    : undefined
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
