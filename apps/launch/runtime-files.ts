import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { PinnedFile } from './src/engine/model-files.ts'
import type { RuntimeFacts } from './src/engine/ort-runtime.ts'

const LOADER = 'ort-wasm-simd-threaded.mjs'
const WASM = 'ort-wasm-simd-threaded.wasm'

/** The files of ONNX Runtime Web, the WebAssembly program that runs the nets on the launch page. */
export const RUNTIME = findRuntime()

/** The WebAssembly program that decodes barcodes. Its name has its hash, so the page's cache rules for assets apply to it. */
export const BARCODE_READER = findBarcodeReader()

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
      wasm: {
        path: targetOf(WASM),
        sizeBytes: wasm.length,
        sha256: createHash('sha256').update(wasm).digest('hex'),
        // A quarter of its size: the page names the megabytes that it loads before the first one has come.
        travelBytes: gzipSync(wasm).length,
      },
    },
    files: [LOADER, WASM].map((file) => ({ from: join(folder, file), to: targetOf(file) })),
  }
}

function findBarcodeReader(): { facts: PinnedFile; from: string } {
  const from = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'))
  const bytes = readFileSync(from)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { facts: { path: `assets/zxing-reader-${sha256.slice(0, 8)}.wasm`, sizeBytes: bytes.length, sha256 }, from }
}
