/** A simulated person and device, for tests, `ostiary simulate` and measures. */
export { createSimulatedClock, type SimulatedClock, type SimulatedClockOptions } from './clock.ts'
export {
  DOCUMENT_FAULTS,
  type DocumentFault,
  isUnread,
  type SimulatedDocument,
  simulateDocument,
} from './document.ts'
export { runFlow, type SimulatedPerson } from './flow.ts'
export {
  estimateOf,
  type Moment,
  type SimulatedCapture,
  type SimulateOptions,
  simulateCapture,
} from './person.ts'
export { type Random, seededRandom } from './randomness.ts'
export { SPOOFS, type Spoof, type SpoofName } from './spoofs.ts'
export {
  createTokenKeeper,
  type KeptToken,
  type SimulatedTokens,
  type TokenFunctions,
  type TokenKeeper,
} from './token.ts'
