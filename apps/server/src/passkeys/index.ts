export { createPasskeysRoom, type PasskeysRoom } from './room.ts'
export type { Passkeys } from './service.ts'
export {
  type Counters,
  type KnownCredential,
  type NewCredential,
  PASSKEY_LIMITS,
  type PasskeyRefusal,
  type Verdict as PasskeyVerdict,
} from './types.ts'
