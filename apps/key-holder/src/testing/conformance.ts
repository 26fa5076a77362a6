/** The entry point `@ostiary/key-holder/conformance`: what tests compare with deploy/ and docs/. The image does not contain it. */

export { isSecret } from '@ostiary/service-kit/settings'
export { loadConfig, Settings } from '../config.ts'
