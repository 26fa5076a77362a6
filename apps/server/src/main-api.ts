import { handleSignals } from './platform/shutdown.ts'

// First of all: loading the other modules takes seconds on a busy machine, and a container's first process ignores signals without a handler.
const shutdown = handleSignals()
const { runApi } = await import('./run-api.ts')
await runApi(shutdown)
