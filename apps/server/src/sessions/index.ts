export { isSessionId } from './capability.ts'
export { createExpiry, graceFor } from './expiry.ts'
export type {
  Flow,
  FlowEnd,
  FlowRequest,
  FlowSession,
  PasskeyStep,
  Role,
  Seen,
  Step,
  WorkResult,
} from './flow.ts'
export { canHappen, flowStatusOf, isFinal, nextState, type Standing } from './machine.ts'
export {
  type BoundDevice,
  type LockoutSubject,
  type NewCredential,
  newProgress,
  newVerificationProgress,
  type OpenChallenge,
  type Progress,
  type VerificationProgress,
  withFlags,
} from './progress.ts'
export { createSessionsRoom, type SessionsRoom } from './room.ts'
export { isPurged, type Owner, type Session, type Sessions, type Tombstone } from './service.ts'
export type { FinalState, SessionEvent, SessionState } from './states.ts'
export type { Area } from './store.ts'
export { SWEEPERS } from './sweepers.ts'
