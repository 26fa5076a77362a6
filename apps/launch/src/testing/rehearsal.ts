/**
 * The entry point `@ostiary/launch/rehearsal`: a capture of the page with a simulated person, for the test that gives it to the
 * server. Apart from `conformance`, because it needs the types of a browser.
 */
export { createPerson, seeded } from '../capture/testing/person.ts'
export { MODELS, type RehearsalOptions, rehearse } from '../capture/testing/rehearsal.ts'
