import type { MatchExplanation } from '@ostiary/contract'
import { KIND_LABELS } from './explain.ts'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for elements and for quoted attributes. */
export function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** Isolates the direction of a name from the text around it. */
export const name = (text: string) => `<bdi dir="auto">${html(text)}</bdi>`

/** Shows the words of both names in columns: the row's word on top, the listed word at the bottom, their relation between. */
export function alignment({ name: pairs, unmatchedQuery, unmatchedListed }: MatchExplanation): string {
  const columns = [
    ...pairs.map(({ query, listed, kind, similarity }) => {
      const [above, below] = kind === 'exact' ? [html(query), html(listed)] : marked(query, listed)
      return column(
        `pair ${kind === 'exact' ? 'same' : 'alike'}`,
        above,
        `${label(kind)} ${similarity.toFixed(2)}`,
        below,
      )
    }),
    ...unmatchedQuery.map((word) => column('pair alone', html(word), 'only in the file', '–')),
    ...unmatchedListed.map((word) => column('pair alone', '–', 'only in the list', html(word))),
  ]
  return `<div class="alignment"><p class="sides" aria-hidden="true"><span>File</span><span>List</span></p><ul>${columns.join('')}</ul></div>`
}

const label = (kind: string) => html((KIND_LABELS as Record<string, string | undefined>)[kind] ?? kind)

function column(style: string, above: string, between: string, below: string): string {
  return `<li class="${style}"><bdi dir="auto">${above}</bdi><span class="kind">${between}</span><bdi dir="auto">${below}</bdi></li>`
}

/** Longer words are not marked: the cost of the comparison grows with the square of the length. */
const MARKED_LENGTH_MAX = 60
/** Words that share less than this are not marked: marks on nearly every letter would not help. */
const COMMON_SHARE_MIN = 0.5

/** Both words as HTML, with marks around the letters that only one of them has. */
export function marked(left: string, right: string): [string, string] {
  const [a, b] = [[...left], [...right]]
  if (a.length > MARKED_LENGTH_MAX || b.length > MARKED_LENGTH_MAX) return [html(left), html(right)]
  const common = commonLengths(a, b)
  if ((common[0]?.[0] ?? 0) < COMMON_SHARE_MIN * Math.max(a.length, b.length)) return [html(left), html(right)]
  const kept: [boolean[], boolean[]] = [a.map(() => false), b.map(() => false)]
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept[0][i++] = true
      kept[1][j++] = true
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) i++
    else j++
  }
  return [withMarks(a, kept[0]), withMarks(b, kept[1])]
}

/** For each pair of positions, the length of the longest common subsequence of the two remainders. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [row, next] = [lengths[i] ?? [], lengths[i + 1] ?? []]
      row[j] = a[i] === b[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return lengths
}

function withMarks(letters: readonly string[], kept: readonly boolean[]): string {
  const marks = letters.map((letter, at) => (kept[at] ? html(letter) : `<mark>${html(letter)}</mark>`))
  return marks.join('').replaceAll('</mark><mark>', '')
}
