/** Words that a stranger has to guess. docs/glossary.md has the words that we use instead. */
import type { SourceFile, Violation } from './rules.ts'

interface RefusedWord {
  pattern: RegExp
  instead: string
  /** A word of ordinary English that only misleads as a name in code. */
  inCodeOnly?: true
}

const REFUSED: readonly RefusedWord[] = [
  { pattern: /unma[dk]e|unmaking/i, instead: 'provisional person, discard' },
  { pattern: /shel(f|ves)/i, instead: 'vector partition (server), device storage or token storage (page)' },
  { pattern: /\bPart(y|ies)\b/, instead: 'TenantShare', inCodeOnly: true },
  { pattern: /\bcrews?\b/i, instead: 'workers' },
  { pattern: /\bhired?\b|\bhiring\b/i, instead: 'spawn' },
  { pattern: /courier/i, instead: 'attempt' },
  { pattern: /wish/i, instead: 'simulated outcome, or what the caller asked for' },
  { pattern: /(: |<|type |interface )Seen\b|\bSeen(\[\]|>)/, instead: 'AcceptedCapture', inCodeOnly: true },
  { pattern: /\btold/i, instead: 'reply, report, say' },
  { pattern: /\bTellings?\b/, instead: 'ReplyFacts', inCodeOnly: true },
  { pattern: /\binTurn\b|createTurns/, instead: 'withLock, createKeyedMutex' },
  { pattern: /patient/i, instead: 'dedicated (client), or the time limit itself' },
  { pattern: /gatherer/i, instead: 'batcher' },
  { pattern: /gallery/i, instead: 'vector search (server), screen catalog (page)' },
  {
    pattern: /hasInk|keepBytes|forgetStrays|orExplain/,
    instead: 'hasText, keepRawBody, purgeDefaultPartition, exitWithReason',
  },
  { pattern: /\bwhom?ever\b/i, instead: 'the caller, the person, the process that …' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bsomebody whom?\b/i, instead: 'a person who' },
  { pattern: /(?<![Tt]here )\b(is|was) none\b/, instead: 'is not a …' },
  { pattern: /\bc[ao]m(e|es|ing) to nothing\b/i, instead: 'fails' },
  { pattern: /\bsaid once\b/i, instead: 'written in one place' },
]

/** The letters of a name keep their history where it can't be changed: stored columns, old records, other people's texts. */
function isExempt(path: string, line: string): boolean {
  if (/^docs\/decisions\/00(0\d|1\d|2[0-2])-/.test(path)) return true // decisions are superseded, never rewritten
  if (/^apps\/server\/migrations\/00(0\d|1[0-7])_/.test(path)) return true // migrations are never edited
  if (/spec-rows\.md$/.test(path)) return true // the specification's own sentences
  if (path.startsWith('docs/languages/')) return true // says word by word what other languages say
  if (/provisional-persons\.api\.test\.ts$/.test(path) && line.includes('unmade_persons')) return true // statements of release 0.1.0
  if (path === 'CHANGELOG.md' && line.includes('is called')) return true // tells users what was renamed
  if (/^tools\/tidy\/words(\.test)?\.ts$/.test(path)) return true // the list itself
  if (path === 'docs/glossary.md') return line.startsWith('|') // its column "was called"
  if (/^docs\/decisions\/0023-/.test(path)) return line.startsWith('|') // its table of moved paths
  return false
}

/** `shelf` is a stored column: SQL, a room's list of its tables and the page that lists the columns name it. */
function withoutStoredNames(path: string, line: string): string {
  const mayNameColumns =
    /biometrics\/([a-z-]*store|room)\.ts$/.test(path) ||
    path === 'docs/privacy.md' ||
    /\bface_(vectors|spaces)/.test(line)
  return mayNameColumns ? line.replace(/\bshelf\b|face_vectors_shelf\w*|face_shelf_numbers/g, '') : line
}

/** CHANGELOG entries of released versions stay as they were written. */
function readablePart({ path, text }: SourceFile): string {
  return path === 'CHANGELOG.md' ? (text.split(/^## \d/m)[0] ?? '') : text
}

export function checkWords(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const isCode = /\.tsx?$/.test(file.path)
    return readablePart(file)
      .split('\n')
      .flatMap((line, index) => {
        if (isExempt(file.path, line)) return []
        const text = withoutStoredNames(file.path, line)
        return REFUSED.filter(({ pattern, inCodeOnly }) => (isCode || !inCodeOnly) && pattern.test(text)).map(
          ({ pattern, instead }) => ({
            path: file.path,
            line: index + 1,
            message: `"${pattern.exec(text)?.[0].trim()}" is a word that a stranger has to guess; write: ${instead}`,
          }),
        )
      })
  })
}
