/**
 * The entry point `@ostiary/server/conformance`: what generated documents and the tests that compare the server with the
 * page or with deploy/ read from the server. They may import nothing else of it. The image does not contain it.
 */

export { isSecret } from '@ostiary/service-kit/settings'
export { THRESHOLDS } from '../biometrics/models.ts'
export { isDesktop } from '../capture-checks/device-class.ts'
export { loadConfig, Settings } from '../config.ts'
export { lacksBrowserData } from '../launch/browser-data.ts'
export { IMMUTABLE } from '../launch/page-files.ts'
export { documentHeaders } from '../launch/page-headers.ts'
export { parseNetworks } from '../platform/outbound/address.ts'
export { listTables } from '../tables.ts'
export { checkCallback } from '../webhooks/callback.ts'
export { createWire } from '../wire.ts'
export { loadStatements } from './statements.ts'
