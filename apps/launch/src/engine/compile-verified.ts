import type { PinnedFile } from './model-files.ts'

type Get = (file: PinnedFile, onResponse: (response: Response) => void) => Promise<Uint8Array<ArrayBuffer>>

/**
 * Compiles a WebAssembly file while it comes, from a copy of the answer, so that the browser can keep the compiled code beside the file for
 * the next visit. Resolves after `get` has checked size and hash: compiled code runs only when it is instantiated.
 */
export async function compileVerified(file: PinnedFile, get: Get): Promise<WebAssembly.Module> {
  let streamed: Promise<WebAssembly.Module | undefined> = Promise.resolve(undefined)
  const bytes = await get(file, (response) => {
    // Fails if a host serves the file with another type than application/wasm.
    streamed = WebAssembly.compileStreaming(response.clone()).catch(() => undefined)
  })
  return (await streamed) ?? WebAssembly.compile(bytes)
}
