/**
 * `npm run blocks [-- DOCUMENT…]` runs the code of every README and document as a reader would: the
 * root's README starts an installation, and all others use it. docs/internal/checks.md says how blocks are marked.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '@ostiary/testkit/run'
import { readDocuments } from './documents.ts'
import { type Block, type Language, placeOf } from './extract.ts'
import { type Installation, portsHere, startInstallation } from './installation.ts'
import { PHP } from './parse.ts'
import { forThisMachine, isRun, portsIn, programsOf, type ScriptOptions, scriptOf } from './programs.ts'
import { createProject } from './project.ts'
import { likeTheClone, type Outcome, type Place, preparePlace, runScript } from './run.ts'

const README = 'README.md'
const START = 'npm run dev'
/** Documents that run beside each other: they wait half of the time. */
const AT_ONCE = 2
const began = Date.now()
const documents = readDocuments()
const asked = process.argv.slice(2)
for (const name of asked) if (!documents.has(name)) throw new Error(`There is no document ${name}`)
const chosen = [...documents].filter(([name]) => asked.length === 0 || asked.includes(name))
const without: readonly Language[] = existsSync(PHP) ? [] : ['php']
const folder = mkdtempSync(join(tmpdir(), 'ostiary-documents-'))
const failures: string[] = []
const ports = await portsHere([...documents.values()].flat().flatMap(({ code }) => portsIn(code)))
let installation: Installation | undefined
try {
  createProject(join(folder, 'blocks'), [...documents.values()].flatMap(programsOf), ports)
  prepareMachine()
  installation = await startInstallation(folder, ports)
  const place = preparePlace(folder, join(folder, 'blocks'), installation)
  const waiting = [...chosen]
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await runDocument(...next, place)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
} finally {
  await installation?.stop()
  rmSync(folder, { recursive: true, force: true })
}
report()

async function runDocument(name: string, blocks: readonly Block[], place: Place): Promise<void> {
  const count = blocks.filter(isRun).length
  if (count === 0) return
  const options: ScriptOptions = { without, ...(name === README ? { after: startLine(blocks) } : {}) }
  const script = forThisMachine(scriptOf(blocks, options), ports)
  const cwd = name === README ? ROOT : likeTheClone(join(folder, 'work', name))
  const outcome = await runScript(name, script, cwd, place)
  console.log(`${outcome.seconds.toFixed(1).padStart(6)} s  ${name}: ${count} blocks${outcome.ok ? '' : ' FAILED'}`)
  if (!outcome.ok) failures.push(failure(name, blocks, outcome))
}

/** Runs what the README says before it starts anything. */
function prepareMachine(): void {
  const blocks = documents.get(README) ?? []
  if (!asked.includes(README) && asked.length > 0) return
  const script = scriptOf(blocks, { before: startLine(blocks) }).replace(/^begin .*/gm, '')
  const { status } = spawnSync('bash', ['-e', '-c', script], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${README}: what stands before "${START}" failed`)
}

function startLine(blocks: readonly Block[]): number {
  for (const { line, code } of blocks) {
    const at = code.split('\n').indexOf(START)
    if (at >= 0) return line + 1 + at
  }
  throw new Error('The README does not start anything')
}

function failure(name: string, blocks: readonly Block[], { line, output }: Outcome): string {
  const block = blocks.findLast((one) => one.line <= line)
  return `${name}:${line} failed\n${(block?.code ?? '').replace(/^/gm, '  | ')}\n${output.replace(/^/gm, '  > ')}`
}

function report(): void {
  const all = chosen.flatMap(([, blocks]) => blocks)
  const notRun = all.filter((block) => block.notRun !== undefined)
  console.log('\nBlocks that are not run, and why')
  for (const block of notRun) console.log(`  ${placeOf(block)}: ${block.notRun}`)
  for (const block of all.filter((one) => isRun(one) && without.includes(one.language)))
    console.log(`  ${placeOf(block)}: ${block.language} is missing on this machine (tools/bootstrap)`)
  console.log('\nBlocks by language: all, run, read in a file that is run, not run')
  for (const language of ['ts', 'js', 'python', 'php', 'sh', 'json'] as const) {
    const of = all.filter((block) => block.language === language)
    const runs = language === 'json' ? 'only parsed' : `${of.filter(isRun).length} run`
    console.log(
      `  ${language.padEnd(7)} ${of.length}, ${runs}, ${of.filter(({ from }) => from !== undefined).length} in a file, ${of.filter(({ notRun: why }) => why !== undefined).length} not run`,
    )
  }
  for (const one of failures) console.error(`\n${one}`)
  console.log(
    `\ndocuments: ${failures.length} of ${chosen.length} failed, ${Math.round((Date.now() - began) / 1000)} s`,
  )
  process.exitCode = failures.length === 0 ? 0 : 1
}
