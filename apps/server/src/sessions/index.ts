export { type AreaSessions, sessionsOfArea } from './area-sessions.ts'
export { isSessionId, launchUrlFor } from './capability.ts'
export type { Decision, InTransaction } from './changes.ts'
export { type ConsentAnswer, consentOf, readConsent } from './consent.ts'
export {
  type DocumentAsk,
  type DocumentProgress,
  documentOf,
  type ReadDocument,
  withDocument,
} from './document-progress.ts'
export { failDocument } from './document-step.ts'
export { notAtThisStep, sessionEnded, sessionGone, sessionOpen, sessionUnknown } from './errors.ts'
export { createExpiry, graceFor } from './expiry.ts'
export {
  type AcceptedCapture,
  type Concluded,
  type Decided,
  type Flow,
  type FlowEnd,
  type FlowRules,
  flowOfArea,
  type NotedCall,
  type RefusedStep,
  type ReplyingStep,
  type Role,
  type RunningSession,
  type Step,
  type WorkResult,
} from './flow.ts'
export { type Confirmed, createHostSide, type ReturnCode } from './host-side.ts'
export type { ListQuery } from './list.ts'
export { assertCan, canHappen, flowStatusOf, isFinal, isWaiting, nextState, type Standing } from './machine.ts'
export {
  type BoundDevice,
  captureAssuranceOf,
  type DeviceTime,
  type HandoffNumber,
  newProgress,
  type OpenChallenge,
  type Progress,
  withFlags,
} from './progress.ts'
export type { SharedRequest } from './request.ts'
export {
  type BoundKeys,
  boundTo,
  codeHashOf,
  newReturnTicket,
  type ReturnTicket,
  seenAgain,
} from './return-ticket.ts'
export { createSessionsRoom, type SessionsRoom } from './room.ts'
export type { Hasher, Sessions } from './service.ts'
export { isPurged, type ListedSession, type Session, type Tombstone } from './session.ts'
export type { FinalState, SessionEvent, SessionState } from './states.ts'
export { SWEEPERS } from './sweepers.ts'
