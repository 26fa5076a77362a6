import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStates } from './state-stream.ts'

async function read(text: string, chunkBytes = text.length || 1): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(text)
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.slice(at, at + chunkBytes))
      controller.close()
    },
  })
  const states: unknown[] = []
  for await (const state of readStates(body)) states.push(state)
  return states
}

const TEXT =
  ': hello\n\nevent: state\nid: 4\ndata: {"state":"Zürich"}\n\nevent: ping\ndata: {}\n\nevent:state\ndata:{"state":\ndata: "B"}\n\n'

test('states are read however the bytes are split, even inside a two-byte character', async () => {
  for (let size = 1; size <= TEXT.length; size++) {
    assert.deepEqual(await read(TEXT, size), [{ state: 'Zürich' }, { state: 'B' }], `${size} bytes at a time`)
  }
})

test('lines may end with CRLF', async () => {
  for (const size of [1, 2, 3, 50]) {
    assert.deepEqual(await read(TEXT.replaceAll('\n', '\r\n'), size), [{ state: 'Zürich' }, { state: 'B' }])
  }
})

test('an unfinished event of a broken stream is dropped', async () => {
  assert.deepEqual(await read('event: state\ndata: {"state":"A"}\n'), [])
  assert.deepEqual(await read(''), [])
})
