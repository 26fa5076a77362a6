/**
 * Turns a document into what runs: its blocks of one language that continue each other become one program, its shell blocks one
 * script. Every line keeps its number, so that a compiler, an interpreter or a shell names the line of the document.
 */
import { type Block, type Language, placeOf } from './extract.ts'

export interface Program {
  document: string
  language: Exclude<Language, 'sh' | 'json'>
  /** One, or more that continue each other. */
  blocks: readonly Block[]
  /** Where it stands below a folder of its own. */
  file: string
  text: string
}

const ENDINGS = { ts: 'ts', js: 'mjs', python: 'py', php: 'php' } as const

/** Programs of a document in the order of their last blocks. Blocks that stand in a file of their own are left out. */
export function programsOf(blocks: readonly Block[]): Program[] {
  const chains: Block[][] = []
  const latest = new Map<Language, Block[]>()
  for (const block of blocks) {
    if (block.language === 'sh' || block.language === 'json' || block.from !== undefined) continue
    const before = latest.get(block.language)
    if (block.continues && !before) throw new Error(`${placeOf(block)}: there is no block that it could continue`)
    const chain = block.continues && before ? before : []
    if (chain.length === 0) chains.push(chain)
    chain.push(block)
    latest.set(block.language, chain)
  }
  return chains.map((chain) => program(chain)).sort((a, b) => lastLine(a) - lastLine(b))
}

const lastLine = ({ blocks }: Program) => blocks.at(-1)?.line ?? 0

function program(blocks: readonly Block[]): Program {
  const [first] = blocks
  if (!first) throw new Error('A program has at least one block')
  const language = first.language as Program['language']
  const name = first.document.replaceAll('/', '__')
  return {
    document: first.document,
    language,
    blocks,
    file: `${name}/${first.line}.${ENDINGS[language]}`,
    text: padded(blocks, language === 'php' && !first.code.startsWith('<?php') ? '<?php' : ''),
  }
}

/** The blocks at their lines; the line of the first fence may have a text of its own. */
function padded(blocks: readonly Block[], opening: string): string {
  const lines: string[] = []
  for (const { line, code } of blocks) {
    if (lines.length === 0) lines.push(...Array<string>(line - 1).fill(''), opening)
    while (lines.length < line) lines.push('')
    lines.push(...code.split('\n'))
  }
  // A PHP file prints what stands before its opening tag.
  const text = `${lines.join('\n')}\n`
  return opening === '<?php' || blocks[0]?.language !== 'php' ? text : text.trimStart()
}

export const isRun = ({ notRun, from, language }: Block) =>
  notRun === undefined && from === undefined && language !== 'json'

/** How a program is started; `FOLDER` is a variable of the script. */
const STARTED_BY = { ts: 'node', js: 'node', python: 'python3', php: 'php' } as const

export interface ScriptOptions {
  /** Only what stands after this line, or before that one. */
  after?: number
  before?: number
  /** Languages that this machine cannot run. */
  without?: readonly Language[]
}

/** One script for the whole document: shell blocks as they are, and a call of each program where its last block stands. */
export function scriptOf(
  blocks: readonly Block[],
  { after = 0, before = Infinity, without = [] }: ScriptOptions = {},
): string {
  const lines: string[] = []
  const put = (line: number, text: string) => {
    while (lines.length < line) lines.push('')
    lines[line - 1] = text
  }
  const goesInto = (line: number) => line > after && line < before
  for (const block of blocks.filter((one) => one.language === 'sh' && isRun(one))) {
    const code = block.code.split('\n')
    const end = block.line + code.length + 1
    if (!code.some((_, index) => goesInto(block.line + 1 + index))) continue
    put(block.line, block.keepsRunning ? `begin ${block.line}; {` : `begin ${block.line}`)
    for (const [index, line] of code.entries()) if (goesInto(block.line + 1 + index)) put(block.line + 1 + index, line)
    if (block.keepsRunning) put(end, `} & until_started $! ${portOf(block.code)}`)
  }
  for (const { blocks: parts, file, language } of programsOf(blocks)) {
    const last = parts.at(-1)
    if (!last || !parts.every(isRun) || without.includes(language) || !goesInto(last.line)) continue
    const call = `${STARTED_BY[language]} "$BLOCKS/${file}"`
    const port = portOf(parts.map(({ code }) => code).join('\n'))
    put(last.line, `begin ${last.line}; ${last.keepsRunning ? `${call} & until_started $! ${port}` : call}`)
  }
  return `${lines.join('\n')}\n`
}

const PORT = /(?:\b(?:localhost|127\.0\.0\.1):|\bPORT=|\blisten\(|\bport:\s*|-(?:p|-port)\s+)(\d{4,5})\b/g

/** The ports that code names. */
export const portsIn = (code: string): number[] => [...code.matchAll(PORT)].map(([, port]) => Number(port))

/** Where something that keeps running listens: its last port, because an installation that it calls is named before. */
const portOf = (code: string): string =>
  String(
    portsIn(code)
      .filter((port) => port !== 8080)
      .at(-1) ?? '',
  )

/** The installation that all documents speak of, and ports that are taken here. */
export function forThisMachine(code: string, ports: ReadonlyMap<number, number>): string {
  const moved = code.replace(PORT, (found, port: string) =>
    found.replace(new RegExp(`${port}$`), String(ports.get(Number(port)) ?? port)),
  )
  return moved.replaceAll('https://ostiary.example.com', `http://localhost:${ports.get(8080) ?? 8080}`)
}
