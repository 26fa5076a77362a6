import type { BarcodeDecoder } from '@ostiary/documents'
import type { ReaderOptions } from 'zxing-wasm/reader'

/**
 * A decoder of PDF417 barcodes. Its program is loaded with the first picture: nobody downloads it who shows another document.
 * `loadWasm` gives the program's bytes, already verified. Without them zxing would fetch the program from a public network.
 */
export function createBarcodeDecoder(loadWasm: () => Promise<Uint8Array<ArrayBuffer>>): BarcodeDecoder {
  let started: Promise<typeof import('zxing-wasm/reader')> | undefined

  async function start() {
    const [zxing, wasm] = await Promise.all([import('zxing-wasm/reader'), loadWasm()])
    const wasmBinary = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)
    await zxing.prepareZXingModule({
      overrides: { wasmBinary, locateFile: (path: string) => path },
      fireImmediately: true,
    })
    return zxing
  }

  return async ({ width, height, data }) => {
    started ??= start().catch((error) => {
      started = undefined
      throw error
    })
    const { readBarcodes } = await started
    const picture = { width, height, data: data as Uint8ClampedArray<ArrayBuffer>, colorSpace: 'srgb' } as const
    const [found] = await readBarcodes(picture, OPTIONS)
    return found?.text
  }
}

const OPTIONS: ReaderOptions = { formats: ['PDF417'], tryHarder: true, textMode: 'Plain', maxNumberOfSymbols: 1 }
