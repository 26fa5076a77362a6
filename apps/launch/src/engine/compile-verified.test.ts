import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileVerified } from './compile-verified.ts'
import { EngineLoadError } from './engine.ts'

/** The smallest module: it holds nothing. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)
const FILE = { path: 'ort/a.wasm', sizeBytes: EMPTY.length, sha256: '' }
const served = (type: string) => new Response(EMPTY, { headers: { 'content-type': type } })

test('a module is compiled from the answer, or from its bytes where the answer has another type', async (t) => {
  const compile = t.mock.method(WebAssembly, 'compile')
  for (const [type, compiles] of [
    ['application/wasm', 0],
    ['application/octet-stream', 1],
  ] as const) {
    const module = await compileVerified(FILE, async (_file, onResponse) => {
      onResponse(served(type))
      return EMPTY
    })
    assert.ok(module instanceof WebAssembly.Module)
    assert.equal(compile.mock.callCount(), compiles)
  }
})

test('a file that was loaded before is compiled from its bytes', async () => {
  assert.ok((await compileVerified(FILE, async () => EMPTY)) instanceof WebAssembly.Module)
})

test('a file with another hash gives no module, although it was compiled', async () => {
  const refused = compileVerified(FILE, async (_file, onResponse) => {
    onResponse(served('application/wasm'))
    throw new EngineLoadError(FILE.path)
  })
  await assert.rejects(refused, EngineLoadError)
})
