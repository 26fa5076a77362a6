export * from './api-key.ts'
export * from './node-envelope.ts'
