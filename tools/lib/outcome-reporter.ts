import type { TestEvent } from 'node:test/reporters'

/** A node:test reporter that writes one JSON line per finished test: `{ "name": …, "outcome": "pass" | "fail" | "skip" }`. */
// biome-ignore lint/style/noDefaultExport: node:test loads a reporter by its default export
export default async function* outcomes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, details, skip, todo, file } = event.data
    if (details.type === 'suite' || name === file) continue
    const outcome = event.type === 'test:fail' ? 'fail' : skip !== undefined || todo !== undefined ? 'skip' : 'pass'
    yield `${JSON.stringify({ name, outcome })}\n`
  }
}
