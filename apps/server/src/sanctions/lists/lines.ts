import { isUtf8 } from 'node:buffer'
import { type ListSource, listError } from './source.ts'

export interface TextLine {
  line: number
  text: string
}

const LINE_FEED = 10
const BYTE_ORDER_MARK = '\ufeff'
/** The longest real entity has a few megabytes. Without a limit, a file without line breaks would be loaded into memory. */
const MAX_LINE_BYTES = 64 << 20

/**
 * The lines of a file, without blank ones, which are still counted. Yields all lines of a chunk at once, because awaiting each
 * line would take longer than reading it.
 */
export async function* readLines({ name, open }: ListSource): AsyncGenerator<TextLine[]> {
  let line = 1
  let held: Uint8Array[] = []
  let heldBytes = 0

  function take(bytes: Uint8Array): string {
    const whole = held.length === 0 ? bytes : Buffer.concat([...held, bytes])
    held = []
    heldBytes = 0
    if (!isUtf8(whole)) throw listError(name, line, 'is not UTF-8')
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8').trim()
    return line === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
  }

  for await (const chunk of open()) {
    const lines: TextLine[] = []
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const text = take(chunk.subarray(start, end))
      if (text !== '') lines.push({ line, text })
      line++
      start = end + 1
    }
    if (start < chunk.length) {
      held.push(chunk.slice(start))
      heldBytes += chunk.length - start
      if (heldBytes > MAX_LINE_BYTES) throw listError(name, line, `has more than ${MAX_LINE_BYTES} bytes`)
    }
    yield lines
  }
  const text = take(new Uint8Array())
  if (text !== '') yield [{ line, text }]
}
