import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, OstiaryError, type StreamEvent } from './index.ts'

const event = (at: number): StreamEvent => ({
  id: `019f1c2e-7a40-7b3c-8f00-${String(at).padStart(12, '0')}`,
  event: 'age.session.completed',
  sessionId: '7d9f4c1e-64a5-4b0e-9d8e-2f6b8f0a1c35',
  sequence: 1,
  createdAt: '2026-11-15T09:30:00.000Z',
  livemode: false,
  headers: {},
  cursor: `at-${at}`,
  body: '{}',
})

type Answer = object | number | 'lost'

/** A client whose calls get these answers, in order, and the cursors that it asked with. */
function clientWith(answers: Answer[]) {
  const asked: (string | null)[] = []
  const fetch = async (url: string | URL | Request) => {
    asked.push(new URL(String(url)).searchParams.get('cursor'))
    const answer = answers.shift()
    if (answer === 'lost') throw new TypeError('fetch failed')
    if (typeof answer === 'number') return Response.json({ message: 'no', code: 'UNKNOWN' }, { status: answer })
    return Response.json(answer)
  }
  return { asked, client: createClient({ baseUrl: 'https://ostiary.example', maxRetries: 0, fetch }) }
}

test('a stream goes on after each page, and from where it was after a lost connection', async () => {
  const { client, asked } = clientWith([
    { items: [], cursor: 'now' },
    { items: [event(1), event(2)], cursor: 'at-2' },
    'lost',
    503,
    { items: [event(3)], cursor: 'at-4', missed: true },
    { items: [event(5)], cursor: 'at-5' },
  ])
  const end = new AbortController()
  const [seen, interrupted]: [string[], number[]] = [[], []]
  let missed = 0
  const options = {
    signal: end.signal,
    onInterrupted: ({ status }: OstiaryError) => interrupted.push(status),
    onMissed: () => missed++,
  }
  for await (const { cursor } of client.events.stream(options)) {
    seen.push(cursor)
    if (seen.length === 4) end.abort()
  }
  assert.deepEqual(seen, ['at-1', 'at-2', 'at-3', 'at-5'])
  assert.deepEqual(asked, [null, 'now', 'at-2', 'at-2', 'at-2', 'at-4'])
  assert.deepEqual([interrupted, missed], [[0, 503], 1])
})

test('a refusal that will not pass ends the stream with the error', async () => {
  const { client, asked } = clientWith([403])
  const read = client.events.stream({ cursor: 'start' }).next()
  await assert.rejects(read, (error) => error instanceof OstiaryError && error.status === 403)
  assert.deepEqual(asked, ['start'])
})
