export { createKeyCache, KEY_MAX_AGE_MS, type KeyCache } from './cache.ts'
export { callerOf, createGuard, findCaller, type Guard, presentedKeyOf } from './guard.ts'
export { type Caller, DEFAULT_OVERLAP_DAYS, type NewKey } from './key.ts'
export { createKeyService, type KeyService } from './service.ts'
