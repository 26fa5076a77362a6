import { run } from './start.ts'

await run(process.argv.slice(2))
