import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/**
 * A node:test reporter that writes one JSON line per finished test:
 * `{ "suite": …, "file": …, "name": …, "outcome": "pass" | "fail" | "skip", "ms": …, "why"?: … }`. The file is the one that holds the
 * test's text, relative to the root; tools/test.ts names the suite in TEST_SUITE.
 */
// biome-ignore lint/style/noDefaultExport: node:test loads a reporter by its default export
export default async function* outcomes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, details, skip, todo, file } = event.data
    if (details.type === 'suite' || name === file) continue
    const outcome = event.type === 'test:fail' ? 'fail' : skip !== undefined || todo !== undefined ? 'skip' : 'pass'
    const why = event.type === 'test:fail' ? { why: reasonOf(event.data.details.error) } : {}
    const origin = { suite: process.env.TEST_SUITE, file: relative(process.cwd(), file ?? '') }
    yield `${JSON.stringify({ ...origin, name, outcome, ms: Math.round(details.duration_ms), ...why })}\n`
  }
}

/** What the test threw, and where. The runner wraps it in an error that only says that the test failed. */
function reasonOf(error: Error): string {
  const { cause } = error
  return (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? error.message)).slice(
    0,
    REASON_MOST,
  )
}
const REASON_MOST = 1_500
