export { systemClock } from './clock.ts'
export {
  type Capture,
  type ChallengeNeeds,
  createDevice,
  type Device,
  type DeviceOptions,
  type SavedDevice,
} from './device.ts'
export type { DocumentFacts } from './document-calls.ts'
export type { DeviceClock } from './event-log.ts'
export { loadSealing } from './load-sealing.ts'
export { DeviceError } from './signed-calls.ts'
export type { HeldToken } from './token-calls.ts'
export {
  comparisonOf,
  createTokenKeys,
  enrolmentOf,
  isPinned,
  type MadeToken,
  proveToken,
  TOKEN_FAILURES,
  type TokenClaim,
  type TokenFailure,
  type TokenKeys,
  type TokenMessage,
  tokenFailureOf,
  tokenKeyOf,
} from './token-messages.ts'
