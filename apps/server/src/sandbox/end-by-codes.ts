import { findSessionCodeName, type SessionCodeName } from '@ostiary/contract'
import { invalid } from '../platform/errors.ts'

export type CancelCode = 'USER_CANCELLED' | 'CONSENT_DECLINED' | 'HOST_CANCELLED'
const CANCEL_CODES: readonly string[] = ['USER_CANCELLED', 'CONSENT_DECLINED', 'HOST_CANCELLED'] satisfies CancelCode[]

/** How a session ends whose result has the codes that a test key asks for: in the state that a real one with them has. */
export type EndByCodes =
  | { how: 'cancelled'; code: CancelCode }
  | { how: 'expired'; desktop: boolean }
  | { how: 'failed'; failures: readonly SessionCodeName[] }

export function endByCodes(codes: readonly number[], pointer: string): EndByCodes {
  const names = codes.map((code, at) => nameOf(code, `${pointer}/${at}`))
  const [first] = names
  const isExpiry = (name: SessionCodeName) => name === 'SESSION_EXPIRED' || name === 'DESKTOP'
  if (names.includes('SESSION_EXPIRED')) {
    if (!names.every(isExpiry)) throw invalid(pointer, 'with -8 may have -5 and no other code: the session expires')
    return { how: 'expired', desktop: names.includes('DESKTOP') }
  }
  if (first !== undefined && isCancelCode(first) && names.length === 1) return { how: 'cancelled', code: first }
  if (names.some(isCancelCode)) throw invalid(pointer, 'with -17, -18 or -38 must have no other code')
  return { how: 'failed', failures: names }
}

function nameOf(code: number, pointer: string): SessionCodeName {
  const name = findSessionCodeName(code)
  if (name === undefined) throw invalid(pointer, 'is not a session code (docs/session-codes.md)')
  return name
}

function isCancelCode(name: SessionCodeName): name is CancelCode {
  return CANCEL_CODES.includes(name)
}
