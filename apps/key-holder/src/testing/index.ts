/** The entry point `@ostiary/key-holder/testing`, for tests and measures. The image does not contain it. */
export * from './caller.ts'
export * from './device.ts'
export * from './faces.ts'
