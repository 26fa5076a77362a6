/** Finds the blocks of code in a document, and reads the marks that stand after the language of a fence. */

const LANGUAGES = {
  ts: 'ts',
  typescript: 'ts',
  js: 'js',
  javascript: 'js',
  python: 'python',
  py: 'python',
  php: 'php',
  sh: 'sh',
  bash: 'sh',
  shell: 'sh',
  json: 'json',
} as const
export type Language = (typeof LANGUAGES)[keyof typeof LANGUAGES]

/** Shown, but nothing that this machine could run. Any other language is refused, so that no block escapes by its name. */
const SHOWN_ONLY: readonly string[] = ['', 'text', 'sql', 'ini', 'nginx', 'yaml', 'http', 'html', 'diff', 'mermaid']

/** Why a block may not be run. "It is inconvenient" is missing on purpose. */
export const REASONS = ['needs Docker', 'needs another machine', 'needs root', 'needs a browser'] as const
export type Reason = (typeof REASONS)[number]

export interface Marks {
  notRun?: Reason
  /** It uses names of the block of its language before it. */
  continues: boolean
  /** It starts something that goes on while the rest of the document runs. */
  keepsRunning: boolean
  /** The file that has this block word for word, and is run instead. */
  from?: string
}

export interface Block extends Marks {
  document: string
  /** Of the opening fence, from 1. */
  line: number
  language: Language
  code: string
}

export const placeOf = ({ document, line }: Pick<Block, 'document' | 'line'>) => `${document}:${line}`

export function blocksOf(document: string, text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const opening = /^(\s*)(`{3,})\s*([^\s`]*)([^`]*)$/.exec(lines[at] ?? '')
    if (!opening) continue
    const [, indent = '', fence = '', name = '', rest = ''] = opening
    const length = lines.slice(at + 1).findIndex((line) => line.trim() === fence)
    const place = placeOf({ document, line: at + 1 })
    if (length < 0) throw new Error(`${place}: the block has no end`)
    const code = lines.slice(at + 1, at + 1 + length).map((line) => line.replace(indent, ''))
    if (name in LANGUAGES)
      blocks.push({
        document,
        line: at + 1,
        language: LANGUAGES[name as keyof typeof LANGUAGES],
        code: code.join('\n'),
        ...marksOf(rest, place),
      })
    else if (!SHOWN_ONLY.includes(name)) throw new Error(`${place}: the language "${name}" is not known`)
    else if (rest.trim() !== '') throw new Error(`${place}: marks are for code that can be run`)
    at += length + 1
  }
  return blocks
}

function marksOf(text: string, place: string): Marks {
  const marks: Marks = { continues: false, keepsRunning: false }
  for (const [mark, name = '', value] of text.matchAll(/([^\s="]+)(?:="([^"]*)")?/g)) {
    if (name === 'continues' && value === undefined) marks.continues = true
    else if (name === 'keeps-running' && value === undefined) marks.keepsRunning = true
    else if (name === 'from' && value) marks.from = value
    else if (name === 'not-run') marks.notRun = reasonOf(value, place)
    else throw new Error(`${place}: there is no mark ${mark}`)
  }
  return marks
}

function reasonOf(value: string | undefined, place: string): Reason {
  const reason = REASONS.find((one) => one === value)
  if (!reason)
    throw new Error(`${place}: "${value ?? ''}" is no reason not to run a block. Reasons: ${REASONS.join(', ')}`)
  return reason
}
