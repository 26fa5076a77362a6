export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * A CSV of any size. A stream is read once and cut as it is read; of the other forms, and of a function that opens the file again
 * with each call, the rows are counted first.
 */
export type ScreeningFile = string | Uint8Array | Blob | ByteStream | (() => ByteStream | Promise<ByteStream>)

export interface Source {
  /** Whether the file can be read twice. */
  isRepeatable: boolean
  read(): AsyncIterable<Uint8Array>
}

const CHUNK_BYTES = 64 * 1024

export function sourceOf(file: ScreeningFile): Source {
  if (typeof file === 'string') return sourceOf(new TextEncoder().encode(file))
  if (file instanceof Uint8Array) return { isRepeatable: true, read: () => inChunks([file]) }
  if (file instanceof Blob) return { isRepeatable: true, read: () => inChunks(chunksOf(file.stream())) }
  if (typeof file === 'function') return { isRepeatable: true, read: () => opened(file) }
  return { isRepeatable: false, read: () => inChunks(chunksOf(file)) }
}

async function* opened(open: () => ByteStream | Promise<ByteStream>): AsyncGenerator<Uint8Array> {
  yield* inChunks(chunksOf(await open()))
}

/** Not every browser can iterate over a stream, so it is read. */
async function* chunksOf(stream: ByteStream): AsyncGenerator<Uint8Array> {
  if (!('getReader' in stream)) {
    yield* stream
    return
  }
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    // A caller that stops early does not need the rest.
    await reader.cancel().catch(() => undefined)
  }
}

async function* inChunks(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES) yield chunk.subarray(at, at + CHUNK_BYTES)
  }
}
