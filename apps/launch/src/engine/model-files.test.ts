import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { NETS } from '@ostiary/faces'
import { EngineLoadError, type LoadProgress } from './engine.ts'
import { createModelFiles, MANIFEST_PATH, type PinnedFile, readManifest } from './model-files.ts'

const BASE = 'https://check.example/launch/'
const bytesOf = (text: string) => new TextEncoder().encode(text)
const pinned = (path: string, content: string): PinnedFile => ({
  path,
  sizeBytes: bytesOf(content).length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

/** A server with these files, which records the requests. */
function serving(
  files: Record<string, string | ((signal?: AbortSignal | null) => Response)>,
  { silentMs, cached = [] }: { silentMs?: number; cached?: string[] } = {},
) {
  const progress: LoadProgress[] = []
  const asked: string[] = []
  const store = createModelFiles({
    baseUrl: BASE,
    async fetch(url, options) {
      const path = String(url).slice(BASE.length)
      asked.push(path)
      const file = files[path]
      if (file === undefined) return new Response('', { status: 404 })
      return typeof file === 'string' ? new Response(inPieces(file)) : file(options?.signal)
    },
    onProgress: (one) => progress.push(one),
    isCached: async (url) => cached.includes(url.slice(BASE.length)),
    ...(silentMs !== undefined && { silentMs }),
  })
  return { store, progress, asked }
}

function inPieces(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < text.length; at += 4) controller.enqueue(bytesOf(text.slice(at, at + 4)))
      controller.close()
    },
  })
}

const failsOn = (file: string) => (error: unknown) => error instanceof EngineLoadError && error.file === file

test('a file with the expected hash is accepted, and its bytes are counted as they arrive', async () => {
  const one = pinned('models/a.onnx', '0123456789')
  const other = pinned('models/b.onnx', 'abcd')
  const { store, progress } = serving({ 'models/a.onnx': '0123456789', 'models/b.onnx': 'abcd' })
  await store.expect([one], [other])
  assert.deepEqual(await store.get(one), bytesOf('0123456789'))
  await store.get(other)
  assert.ok(progress.every(({ totalBytes, rest }) => totalBytes === 10 && rest?.totalBytes === 4))
  assert.deepEqual(
    progress.map(({ loadedBytes, rest }) => [loadedBytes, rest?.loadedBytes]),
    [0, 0, 4, 8, 10, 10, 10].map((bytes, index) => [bytes, index < 6 ? 0 : 4]),
  )
})

test('bytes count as they travel, by the answer if it says so, and a cached file counts as nothing', async () => {
  const packed = { ...pinned('ort/a.wasm', '0123456789'), travelBytes: 5 }
  const headers = { 'content-length': '6' }
  const { store, progress } = serving(
    {
      'ort/a.wasm': () => new Response(inPieces('0123456789'), { headers }),
      'models/b.onnx': () => new Response('abcd', { headers: { 'content-length': '4' } }),
    },
    { cached: ['models/b.onnx'] },
  )
  await store.expect([packed, pinned('models/b.onnx', 'abcd')])
  assert.deepEqual(progress.at(-1), { loadedBytes: 0, totalBytes: 5, rest: { loadedBytes: 0, totalBytes: 0 } })
  await store.get(packed)
  await store.get(pinned('models/b.onnx', 'abcd'))
  assert.deepEqual(progress.at(-1), { loadedBytes: 6, totalBytes: 6, rest: { loadedBytes: 0, totalBytes: 0 } })
})

test('three files at most are fetched at a time, in the order of the calls, with low priority', async () => {
  const asked: string[] = []
  const ends: (() => void)[] = []
  const store = createModelFiles({
    baseUrl: BASE,
    async fetch(url, options) {
      asked.push(`${String(url).slice(BASE.length)} ${options?.priority}`)
      await new Promise<void>((resolve) => ends.push(resolve))
      return new Response('x')
    },
    onProgress: () => {},
  })
  const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => store.get(pinned(name, 'x'))))
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  await settled()
  assert.deepEqual(asked, ['a low', 'b low', 'c low'])
  ends[1]?.()
  while (asked.length < 4) await settled()
  assert.deepEqual(asked.slice(3), ['d low'])
  for (let next = 0; next < 5; next++) {
    while (!ends[next]) await settled()
    ends[next]?.()
  }
  await all
})

test('the answer is handed out before its body is read, and the bytes only when their hash fits', async () => {
  const { store } = serving({ 'ort/a.wasm': '0123456789', 'ort/b.wasm': '9876543210' })
  const copies: Promise<string>[] = []
  const copy = (response: Response) => void copies.push(response.clone().text())
  assert.deepEqual(await store.get(pinned('ort/a.wasm', '0123456789'), copy), bytesOf('0123456789'))
  await assert.rejects(store.get(pinned('ort/b.wasm', '0123456789'), copy), failsOn('ort/b.wasm'))
  assert.deepEqual(await Promise.all(copies), ['0123456789', '9876543210'])
})

test('a file with other content, fewer or more bytes is refused, and the error names it', async () => {
  const { store } = serving({ 'models/a.onnx': '0123456789' })
  await assert.rejects(store.get(pinned('models/a.onnx', '9876543210')), failsOn('models/a.onnx'))
  await assert.rejects(store.get(pinned('models/a.onnx', '012345678')), failsOn('models/a.onnx'))
  await assert.rejects(store.get(pinned('models/a.onnx', '0123456789a')), failsOn('models/a.onnx'))
})

test('the error of a missing file or a lost network names the file', async () => {
  const { store } = serving({ 'models/b.onnx': () => Response.error() })
  await assert.rejects(store.get(pinned('models/a.onnx', 'x')), failsOn('models/a.onnx'))
  await assert.rejects(store.get(pinned('models/b.onnx', 'x')), failsOn('models/b.onnx'))
  await assert.rejects(store.models(), failsOn(MANIFEST_PATH))
})

test('a loaded file is not fetched again, a failed one is', async () => {
  let isUp = false
  const file = pinned('models/a.onnx', 'abcd')
  const { store, asked } = serving({
    'models/a.onnx': () => (isUp ? new Response('abcd') : new Response('', { status: 503 })),
  })
  await assert.rejects(store.get(file), failsOn('models/a.onnx'))
  isUp = true
  await store.get(file)
  await store.get(file)
  assert.equal(asked.length, 2)
})

const MANIFEST = {
  id: 'faces-1',
  hash: 'h'.repeat(43),
  nets: NETS.map((id) => ({ id, file: `${id}/0123/${id}.onnx`, bytes: 10, sha256: 'ab', licence: 'MIT' })),
}

test('the manifest has the path of each net', async () => {
  const { store } = serving({ [MANIFEST_PATH]: JSON.stringify(MANIFEST) })
  const { id, hash, nets } = await store.models()
  assert.deepEqual([id, hash], [MANIFEST.id, MANIFEST.hash])
  assert.deepEqual(nets.get('facemesh'), { path: 'models/facemesh/0123/facemesh.onnx', sizeBytes: 10, sha256: 'ab' })
})

test('a file that is not a manifest, or lacks one of our nets, is refused', () => {
  assert.throws(() => readManifest({ ...MANIFEST, nets: MANIFEST.nets.slice(1) }), /blazeface/)
  for (const none of [null, 'x', [], {}, { ...MANIFEST, hash: 1 }]) assert.throws(() => readManifest(none), /manifest/)
})

/** Sends its chunks one by one with a pause and then nothing more, like a dead connection. */
function slowly(pieces: readonly string[], everyMs: number, { ends }: { ends: boolean }) {
  return (signal?: AbortSignal | null) => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason))
        for (const piece of pieces) {
          await sleep(everyMs)
          controller.enqueue(bytesOf(piece))
        }
        if (ends) controller.close()
      },
    })
    return new Response(body)
  }
}

test('a stalled download fails and can be tried again', async () => {
  let dies = true
  const file = pinned('models/a.onnx', 'abcd')
  const { store, asked } = serving(
    { 'models/a.onnx': (signal) => slowly(dies ? ['ab'] : ['ab', 'cd'], 5, { ends: !dies })(signal) },
    { silentMs: 1_500 },
  )
  await assert.rejects(store.get(file), failsOn('models/a.onnx'))
  dies = false
  assert.deepEqual(await store.get(file), bytesOf('abcd'))
  assert.equal(asked.length, 2)
})

test('a manifest that never arrives fails too', async () => {
  const { store } = serving({ [MANIFEST_PATH]: slowly([], 0, { ends: false }) }, { silentMs: 100 })
  await assert.rejects(store.models(), failsOn(MANIFEST_PATH))
})

test('a waiting download is not aborted while others make progress', async () => {
  const pieces = ['a', 'b', 'c', 'd', 'e', 'f']
  const { store } = serving(
    {
      'models/a.onnx': slowly(pieces, 500, { ends: true }),
      'models/b.onnx': slowly(['xyz'], 2_400, { ends: true }),
    },
    { silentMs: 2_000 },
  )
  const both = [pinned('models/a.onnx', 'abcdef'), pinned('models/b.onnx', 'xyz')].map((file) => store.get(file))
  assert.deepEqual(await Promise.all(both), [bytesOf('abcdef'), bytesOf('xyz')])
})
