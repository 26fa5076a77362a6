import { parseAst } from 'rolldown/parseAst'

/** A line break costs a byte, so short statements share a line. */
const LINE_CHARS = 120

/**
 * Breaks code in one line into many, before statements and members of classes. Node shows the whole line of an error that nobody catches:
 * with all code in one line that is the whole package. A statement may follow a line break anywhere, so the meaning stays.
 */
export function withLines(code: string, lineChars = LINE_CHARS): string {
  const starts = new Set<number>()
  collect(parseAst(code), starts)
  let [text, from] = ['', 0]
  for (const at of [...starts].sort((a, b) => a - b)) {
    if (at - from < lineChars) continue
    text += `${code.slice(from, at)}\n`
    from = at
  }
  return text + code.slice(from)
}

/** Where the statements of a module, a block or a function begin, and the members of a class. */
function collect(node: unknown, starts: Set<number>): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const part of node) collect(part, starts)
    return
  }
  if ('body' in node && Array.isArray(node.body)) for (const { start } of node.body) starts.add(start)
  for (const part of Object.values(node)) collect(part, starts)
}
