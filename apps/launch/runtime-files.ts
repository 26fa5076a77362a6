import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RuntimeFacts } from './src/engine/ort-runtime.ts'

const LOADER = 'ort-wasm-simd-threaded.mjs'
const WASM = 'ort-wasm-simd-threaded.wasm'

export const RUNTIME = findRuntime()

/** The build of the runtime that the page uses: source paths, target paths, and the hash that the worker checks. */
function findRuntime(): { facts: RuntimeFacts; files: { from: string; to: string }[] } {
  const folder = dirname(fileURLToPath(import.meta.resolve(`onnxruntime-web/${WASM}`)))
  const { version } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8'))
  const wasm = readFileSync(join(folder, WASM))
  const to = (file: string) => `ort/${version}/${file}`
  return {
    facts: {
      loaderPath: to(LOADER),
      wasm: { path: to(WASM), sizeBytes: wasm.length, sha256: createHash('sha256').update(wasm).digest('hex') },
    },
    files: [LOADER, WASM].map((file) => ({ from: join(folder, file), to: to(file) })),
  }
}
