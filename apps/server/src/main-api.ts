import { handleSignals } from './platform/shutdown.ts'

// First of all: loading the other modules takes seconds on a busy machine, and a signal may come meanwhile.
const shutdown = handleSignals()
const { runApi } = await import('./run-api.ts')
await runApi(shutdown)
