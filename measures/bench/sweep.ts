/** Does what the worker's sweeper does until nothing is due, in a process of its own, and prints how fast it went. */
import { createWire, loadConfig, SWEEPERS } from '@ostiary/server/measure'

/** Skip the first batches: they measure the compiler and the planning of statements. */
const WARM_UP_BATCHES = 3

const wire = createWire(loadConfig(process.env), { role: 'cli' })
const { ending } = wire.age
const [cell] = wire.platform.cells.all()
if (!cell) throw new Error('There is no cell')
for (let batch = 0; batch < WARM_UP_BATCHES; batch++) await ending.expireDue(cell.db)
const startedMs = performance.now()
let expired = 0
const sweep = async () => {
  for (;;) {
    const count = await ending.expireDue(cell.db)
    if (count === 0) return
    expired += count
  }
}
await Promise.all(Array.from({ length: SWEEPERS }, sweep))
process.stdout.write(JSON.stringify({ expired, ms: performance.now() - startedMs }))
await wire.close()
process.exit(0)
