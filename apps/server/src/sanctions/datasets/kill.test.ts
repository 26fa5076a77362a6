/** Kills real imports, which run in their own processes, in the middle. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '@ostiary/testkit/eventually'
import { readFacts } from '../engine/snapshot.ts'
import type { DatasetId } from './files.ts'
import { peopleCsv, setUp } from './testing/lists.ts'

const LIST: DatasetId = { name: 'staff', tenantId: null }
const CLI = fileURLToPath(new URL('../../../../cli/src/main.ts', import.meta.url))

test('after kill -9 of the build process the import fails, the old version serves and no files are left', async (t) => {
  const { cli, first, files, names } = await startLargeImport(t)
  const [builder] = childrenOf(cli.pid ?? 0)
  assert.ok(builder !== undefined)
  process.kill(builder, 'SIGKILL')
  const [code] = await once(cli, 'exit')
  assert.equal(code, 1)
  assert.equal(await files.current(LIST), first)
  assert.deepEqual(names(), [`${first}.snapshot`, 'checked.json', 'current.json'])
})

test('after kill -9 of the importing process the build process cleans up and ends', async (t) => {
  const { cli, first, files, names } = await startLargeImport(t)
  const [builder] = childrenOf(cli.pid ?? 0)
  cli.kill('SIGKILL')
  await once(cli, 'exit')
  await eventually(() => names().length === 3 && !isRunning(builder ?? 0))
  assert.equal(await files.current(LIST), first)
  assert.deepEqual(names(), [`${first}.snapshot`, 'checked.json', 'current.json'])
})

test('after kill -9 of the importing process between build and rename the build process removes both drafts', async (t) => {
  const { files, write } = setUp()
  const draft = await files.draftOf(LIST, '1', 'complete')
  const list = write('small.csv', peopleCsv(10))
  const facts = {
    dataset: 'staff',
    version: '1',
    createdAt: '',
    title: '',
    licence: '',
    kind: 'other',
    sources: [],
    skipped: {},
  }
  const sha256 = createHash('sha256').update(readFileSync(list)).digest('hex')
  const draftOfCurrent = files.draftOfCurrent(LIST, 'complete')
  const job = { draft, draftOfCurrent, from: { format: 'custom-csv', files: [{ path: list, sha256 }] }, facts }
  const build = new URL('./build.ts', import.meta.url).href
  const script = `import { buildSnapshot } from ${JSON.stringify(build)}
    await buildSnapshot(${JSON.stringify(job)}, {}, () => { console.log('complete'); return new Promise(() => {}) })`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => parent.kill('SIGKILL'))
  assert.equal(String(await Promise.race([once(parent.stdout, 'data'), once(parent, 'exit')])), 'complete\n')
  assert.equal((await readFacts(draft)).entries, 10)
  writeFileSync(draftOfCurrent, 'half')
  parent.kill('SIGKILL')
  await eventually(() => !existsSync(draft) && !existsSync(draftOfCurrent))
})

test('after kill -9 of both, as in a power failure, no incomplete snapshot has the name of a version, and the next import cleans up', async (t) => {
  const { cli, first, files, importer, names, dir, write } = await startLargeImport(t)
  // Kills both at once: `detached` made them one process group.
  process.kill(-(cli.pid ?? 0), 'SIGKILL')
  await once(cli, 'exit')
  assert.equal(await files.current(LIST), first)
  assert.deepEqual(await files.versions(LIST), [first])
  assert.equal((await importer.verify(LIST)).entries, 10)
  const [draft, ...others] = names().filter((name) => name.endsWith('.tmp'))
  assert.ok(draft !== undefined && others.length === 0)
  utimesSync(join(dir, 'staff', draft), 0, 0)
  const next = await importer.importList({ dataset: LIST, paths: [write('next.csv', peopleCsv(11))] })
  assert.equal(await files.current(LIST), next.version)
  assert.ok(!names().includes(draft))
})

/** Puts a small version into service and returns while a large one is being imported. */
async function startLargeImport(t: TestContext) {
  if (!existsSync('/proc/self/stat')) t.skip('needs /proc')
  const set = setUp()
  const { version: first } = await set.importer.importList({
    dataset: LIST,
    paths: [set.write('small.csv', peopleCsv(10))],
  })
  const large = set.write('large.csv', peopleCsv(150_000))
  const names = () => readdirSync(join(set.dir, 'staff')).sort()
  const cli: ChildProcess = spawn(process.execPath, [CLI, 'datasets', 'import', LIST.name, large], {
    env: { PATH: process.env.PATH ?? '', SANCTIONS_DIR: set.dir },
    stdio: 'ignore',
    detached: true,
  })
  t.after(() => cli.kill('SIGKILL'))
  await eventually(() => {
    assert.equal(cli.exitCode, null, 'the import ended before it was killed')
    return names().some((name) => name.endsWith('.tmp'))
  })
  return { ...set, cli, first, names }
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => statOf(pid)[1] === String(parent))
}

/** An ended process that its parent has not waited for is still in the table, with state Z. */
function isRunning(pid: number): boolean {
  return !['Z', 'X', undefined].includes(statOf(pid)[0])
}

/** The fields of /proc/<pid>/stat after the program's name: state, parent and so on. */
function statOf(pid: number): string[] {
  try {
    // The program's name may contain any character, including a closing bracket.
    const [, rest] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return rest?.split(' ') ?? []
  } catch {
    return [] // the process has ended
  }
}
