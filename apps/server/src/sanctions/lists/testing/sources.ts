import type { ListSource } from '../source.ts'

/** A source in memory. Small pieces cut letters and records in two, as a network does. */
export function textSource(name: string, content: string | Uint8Array, pieceBytes = 7): ListSource {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return {
    name,
    bytes: bytes.length,
    async *open() {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
    },
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}
