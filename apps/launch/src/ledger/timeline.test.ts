import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { NotedRequest } from './ledger.ts'
import type { Resource } from './resources.ts'
import { watchTimeline } from './timeline.ts'

const { PerformanceObserver: original } = globalThis
afterEach(() => {
  globalThis.PerformanceObserver = original
})

/** A browser with a performance timeline that the test controls. */
function browserWith(supportedEntryTypes: readonly string[]) {
  const observed: string[] = []
  let tell: (entries: readonly Resource[]) => void = () => {}
  class FakeObserver {
    static supportedEntryTypes = supportedEntryTypes
    constructor(callback: (list: { getEntries(): readonly Resource[] }) => void) {
      tell = (entries) => callback({ getEntries: () => entries })
    }
    observe({ type }: { type: string }) {
      observed.push(type)
    }
    disconnect() {
      tell = () => {}
    }
  }
  Object.assign(globalThis, { PerformanceObserver: FakeObserver })
  return { observed, tell: (...entries: Resource[]) => tell(entries) }
}

const PAGE = { entryType: 'navigation', name: 'https://check.example/launch/', startTime: 0, transferSize: 900 }
const SCRIPT = { entryType: 'resource', name: 'https://check.example/launch/a.js', startTime: 9, transferSize: 900 }

test('an entry that is reported twice counts once; a second fetch of the same file counts again', () => {
  const browser = browserWith(['navigation', 'resource'])
  const noted: NotedRequest[] = []
  watchTimeline((request) => noted.push(request), { includeFetch: false })
  browser.tell(PAGE, SCRIPT)
  browser.tell(PAGE)
  browser.tell({ ...SCRIPT, startTime: 400 })
  assert.deepEqual(
    noted.map(({ url }) => url),
    [PAGE.name, SCRIPT.name, SCRIPT.name],
  )
})

test('only entry types that the thread supports are observed, until it is stopped', () => {
  const browser = browserWith(['resource'])
  const noted: NotedRequest[] = []
  const end = watchTimeline((request) => noted.push(request), { includeFetch: true })
  assert.deepEqual(browser.observed, ['resource'])
  end()
  browser.tell(SCRIPT)
  assert.equal(noted.length, 0)
})

test('a browser without a timeline reports nothing', () => {
  Object.assign(globalThis, { PerformanceObserver: undefined })
  watchTimeline(() => assert.fail(), { includeFetch: true })()
})
