export { embedOriginsFor } from './branding.ts'
export { createTokenVerifier, type TokenVerifier, type VerifiedToken } from './jwt.ts'
export { isAllowedRedirect } from './redirects.ts'
export { createSettings, SETTINGS_MAX_AGE_MS, type Settings } from './service.ts'
