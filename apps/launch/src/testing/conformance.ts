/**
 * The entry point `@ostiary/launch/conformance`: what generated documents and the tests that compare the page with the server read
 * from the page. They may import nothing else of it. It needs no browser and no types of one.
 */
export { collectSignals } from '../signals/collect.ts'
export { devicePlatform } from '../signals/platform.ts'
export { readEnvironment } from '../signals/read-environment.ts'
export { SIGNAL_READINGS } from '../signals/reads.ts'
export { BROWSER_NAMES, browser, CAMERA } from '../signals/testing/browsers.ts'
