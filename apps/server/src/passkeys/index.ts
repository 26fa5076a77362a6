export { createPasskeysRoom, type PasskeysRoom } from './room.ts'
export type { Passkeys } from './service.ts'
export type {
  Counters,
  KnownCredential,
  NewCredential,
  PasskeyRefusal,
  Verdict as PasskeyVerdict,
} from './types.ts'
