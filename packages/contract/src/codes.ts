/**
 * The number of every session code, one constant each. Use them as a namespace: `import * as codes from
 * '@ostiary/contract/codes'`, then `codes.CAMERA_FAIL`. The launch page imports this file by itself, so it must not import
 * the validator; single constants let the bundler drop the codes that the page does not use.
 * What each code means is in session-codes.ts.
 */
export const SPOOF = 1
export const VIDEO_SPOOF = 2
export const DESKTOP = -5
export const UNSUPPORTED_BROWSER = -6
export const CAMERA_FAIL = -7
export const SESSION_EXPIRED = -8
export const FACE_NOT_MATCH = -9
export const LOW_LIGHT = -10
export const MULTIPLE_FACES = -11
export const NO_FACE = -12
export const UNAUTHORIZED_CALLBACK = -14
export const TOKEN_ALREADY_USED = -15
export const DEVICE_MISMATCH = -16
export const USER_CANCELLED = -17
export const CONSENT_DECLINED = -18
export const ATTEMPTS_EXCEEDED = -19
export const MODEL_LOAD_FAILED = -20
export const NETWORK_LOST = -21
export const FACE_SCAN_ERROR = -22
export const DOCUMENT_SCAN_ERROR = -23
export const SESSION_LOAD_FAILED = -24
export const PASSKEY_FAILED = -25
export const DOCUMENT_EXPIRED = -26
export const DOCUMENT_UNREADABLE = -27
export const DOCUMENT_UNSUPPORTED = -28
export const DOCUMENT_TAMPERED = -29
export const DOB_NOT_FOUND = -30
export const FACE_OBSTRUCTED = -31
export const LIVENESS_INCONCLUSIVE = -32
export const HANDOFF_EXPIRED = -33
export const POLICY_BLOCKED = -34
export const TEMPORARILY_LOCKED = -35
export const USER_NOT_ENROLLED = -36
export const ALREADY_ENROLLED = -37
export const HOST_CANCELLED = -38
export const QUALITY_LOW = -39
export const INTERNAL = -100
