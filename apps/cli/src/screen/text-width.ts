/** Measures text in terminal cells, and cuts it without breaking a character. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation})/u
const HALF_WIDTH = /^[\uff61-\uffdc]/u
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u
/** Escape sequences would control the terminal; direction marks would reorder the cells beside them. */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu

const LEFT_TO_RIGHT_MARK = '\u200e'
const ISOLATE = '\u2068'
const END_ISOLATE = '\u2069'

export const isRightToLeft = (text: string) => RIGHT_TO_LEFT.test(text)

/** Makes untrusted text safe to print: one line, without characters that control the terminal. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, ' ').replace(/\s+/g, ' ').trim()
}

export function displayWidth(text: string): number {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme < '\u0300') return 1
  if (WIDE.test(grapheme) && !HALF_WIDTH.test(grapheme)) return 2
  return [...grapheme].some((character) => !ZERO.test(character)) ? 1 : 0
}

/** Pads the text with spaces on the right, and isolates right-to-left text so that it does not reorder its neighbours. */
export function padCell(text: string, width: number, isolate: boolean): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return `${isolate && isRightToLeft(text) ? `${ISOLATE}${text}${END_ISOLATE}` : text}${spaces}`
}

/** Keeps a line left to right, even when it begins with right-to-left text. */
export function steadyLine(line: string, isolate: boolean): string {
  return isolate && isRightToLeft(line) ? `${LEFT_TO_RIGHT_MARK}${line}` : line
}

/** Wraps text to lines of at most `width` cells, at spaces if possible. An ellipsis replaces what goes beyond `maxLines`. */
export function wrap(text: string, width: number, maxLines = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (displayWidth(longer) <= width) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    const pieces = displayWidth(word) <= width ? [word] : cut(word, width)
    line = pieces.pop() ?? ''
    lines.push(...pieces)
  }
  lines.push(line)
  if (lines.length <= maxLines) return lines
  const last = lines[maxLines - 1] ?? ''
  return [...lines.slice(0, maxLines - 1), `${truncate(last, width - 1)}…`]
}

/** The beginning of the text that fits, without an ellipsis. */
export function truncate(text: string, width: number): string {
  return displayWidth(text) <= width ? text : (cut(text, Math.max(1, width))[0] ?? '')
}

function cut(text: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const size = graphemeWidth(segment)
    if (used + size > width && piece !== '') {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += segment
    used += size
  }
  return [...pieces, piece]
}
