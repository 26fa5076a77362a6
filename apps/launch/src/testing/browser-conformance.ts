/**
 * The entry point `@ostiary/launch/browser-conformance`: like `conformance`, for code that needs the types of a browser. The tests that
 * use it are type-checked with the page, by apps/launch/tsconfig.json.
 */

export { MODELS, runTestCapture, type TestCaptureOptions } from '../capture/testing/fixture.ts'
export { createPerson, seeded } from '../capture/testing/person.ts'
export { LOCAL_MATCH_MIN } from '../local-token/token.ts'
