/** The entry point `@ostiary/key-holder/conformance`: what tests compare with deploy/ and docs/. The image does not contain it. */
export { loadConfig, Settings } from '../config.ts'
export { isSecret } from '../environment.ts'
