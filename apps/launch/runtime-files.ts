import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RuntimeFacts } from './src/engine/ort-runtime.ts'

const LOADER = 'ort-wasm-simd-threaded.mjs'
const WASM = 'ort-wasm-simd-threaded.wasm'

/** The files of ONNX Runtime Web, the WebAssembly program that runs the nets on the launch page. */
export const RUNTIME = findRuntime()

/**
 * `files` are copied into the page's build: `from` is a path in the npm package, `to` a path below `dist/`. `facts` are compiled into the page's
 * Web Worker, which loads the files from these paths and checks the size and hash of the WebAssembly file.
 */
function findRuntime(): { facts: RuntimeFacts; files: { from: string; to: string }[] } {
  const folder = dirname(fileURLToPath(import.meta.resolve(`onnxruntime-web/${WASM}`)))
  const { version } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8'))
  const wasm = readFileSync(join(folder, WASM))
  const targetOf = (file: string) => `ort/${version}/${file}`
  return {
    facts: {
      loaderPath: targetOf(LOADER),
      wasm: { path: targetOf(WASM), sizeBytes: wasm.length, sha256: createHash('sha256').update(wasm).digest('hex') },
    },
    files: [LOADER, WASM].map((file) => ({ from: join(folder, file), to: targetOf(file) })),
  }
}
