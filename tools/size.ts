/** `npm run size` prints how large each workspace is, and the goals; `-- --at COMMIT` puts an earlier commit beside it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ROOT } from '@ostiary/testkit/run'

type Group = 'product' | 'tests' | 'words'
type Size = Record<Group, number>

/** What the goals of issue 31 say of the whole and of parts of it. */
const TOTALS: { name: string; group: Group; goal: number; of: RegExp }[] = [
  { name: 'product, measures and tools included', group: 'product', goal: 113_000, of: /^/ },
  { name: 'tests and test machinery', group: 'tests', goal: 99_000, of: /^/ },
  { name: 'measures', group: 'product', goal: 12_000, of: /^measures\// },
  { name: 'tools', group: 'product', goal: 2_800, of: /^tools$/ },
  { name: 'words of Markdown', group: 'words', goal: 125_000, of: /^/ },
  { name: 'words of README.md', group: 'words', goal: 700, of: /^README\.md$/ },
]

/** Catalogues of texts and generated documents are JSON, and JSON, CSS and configuration are in no group. */
const CODE = /\.(tsx?|py|php|sql)$/
const TEST = /\.test\.tsx?$|^tests\/|\/tests\/|\/testing\//
/** Language sheets lie in one folder, or beside the texts that they describe. */
const UNCOUNTED_WORDS = /^docs\/languages\/|^apps\/launch\/src\/texts\/|^docs\/decisions\/archive\//

export function groupOf(path: string): Group | undefined {
  if (path.endsWith('.md')) return UNCOUNTED_WORDS.test(path) ? undefined : 'words'
  if (!CODE.test(path)) return undefined
  return TEST.test(path) ? 'tests' : 'product'
}

export function placeOf(path: string): string {
  return /^((apps|packages|clients|tests|measures)\/)?[^/]+/.exec(path)?.[0] ?? path
}

function measure(folder: string, paths: string[]): Map<string, Size> {
  const sizes = new Map<string, Size>()
  for (const path of paths) {
    const group = groupOf(path)
    if (!group || !existsSync(join(folder, path))) continue
    const text = readFileSync(join(folder, path), 'utf8')
    const place = placeOf(path)
    const size = sizes.get(place) ?? { product: 0, tests: 0, words: 0 }
    size[group] += group === 'words' ? (text.match(/\S+/g)?.length ?? 0) : text.split('\n').length - 1
    sizes.set(place, size)
  }
  return sizes
}

function measureCommit(commit: string): Map<string, Size> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-size-'))
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1e9 })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    return measure(folder, git('ls-tree', '-r', '--name-only', '-z', commit))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function git(...args: string[]): string[] {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e9 }).split('\0').filter(Boolean)
}

function print(columns: { name: string; sizes: Map<string, Size> }[]): void {
  const row = (name: string, ...cells: (string | number)[]) =>
    console.log(name.padEnd(40), ...cells.map((cell) => cell.toLocaleString('en').padStart(10)))
  const places = [...new Set(columns.flatMap(({ sizes }) => [...sizes.keys()]))].sort()
  row('', ...columns.flatMap(({ name }) => [name, '', '']))
  row('workspace or folder', ...columns.flatMap(() => ['product', 'tests', 'words']))
  for (const place of places) {
    row(place, ...columns.flatMap(({ sizes }) => Object.values(sizes.get(place) ?? { product: 0, tests: 0, words: 0 })))
  }
  console.log()
  row('', ...columns.map(({ name }) => name), 'goal')
  for (const { name, group, goal, of } of TOTALS) {
    const sum = (sizes: Map<string, Size>) =>
      [...sizes].reduce((total, [place, size]) => total + (of.test(place) ? size[group] : 0), 0)
    row(name, ...columns.map(({ sizes }) => sum(sizes)), goal)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { at } = parseArgs({ options: { at: { type: 'string' } } }).values
  const now = {
    name: 'now',
    sizes: measure(ROOT, git('ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate')),
  }
  print(at ? [{ name: at, sizes: measureCommit(at) }, now] : [now])
}
