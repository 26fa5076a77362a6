import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/run'
import { checkImports } from './imports.ts'
import type { SourceFile } from './rules.ts'

const file = (path: string, text: string): SourceFile => ({ path, text })
const importing = ([path, target]: [string, string]) => file(path, `import { x } from '${target}'\n`)

/** Checks a folder with these files and with empty ones where they import a file. */
async function check(files: readonly SourceFile[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-tidy-'))
  try {
    for (const { path, text } of files) {
      for (const [, target = ''] of text.matchAll(/'(\.[^']+)'/g)) write(join(folder, dirname(path), target), '')
    }
    for (const { path, text } of files) write(join(folder, path), text)
    return await checkImports(
      folder,
      files.map(({ path }) => path),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Several files are planted at one place: each gets a number. */
async function assertFound(planted: readonly SourceFile[], allowed: readonly SourceFile[]): Promise<void> {
  const numbered = [...planted, ...allowed].map(({ path, text }, index) =>
    file(path.replace(/([^/.]+)(\.[^/]+)$/, `$1${index}$2`), text),
  )
  const found = new Set((await check(numbered)).map(({ path }) => path))
  for (const [index, { path, text }] of numbered.entries())
    assert.equal(found.has(path), index < planted.length, `${path}: ${text}`)
}

test('a planted import against the ladder between packages is found', async () => {
  const planted: [string, string][] = [
    ['packages/contract/src/a.ts', '@ostiary/crypto'],
    ['packages/crypto/src/a.ts', 'node:crypto'],
    ['packages/sdk/src/a.ts', 'node:fs'],
    ['packages/sdk/src/a.ts', '@ostiary/server/operate'],
    ['apps/server/src/strings/a.ts', '@ostiary/sdk'],
    ['apps/cli/src/a.ts', '@ostiary/server'],
    ['apps/cli/src/a.ts', '../../server/src/wire.ts'],
    ['tests/acceptance/a.test.ts', '@ostiary/contract'],
    ['tests/acceptance/a.test.ts', '../../apps/server/src/app.ts'],
    ['tests/acceptance/a.test.ts', '@ostiary/server/measure'],
    ['tests/testkit/a.ts', '../../apps/server/src/wire.ts'],
    ['tests/testkit/a.ts', '@ostiary/server/conformance'],
    ['tests/puppet/a.ts', '../../models/node-nets.ts'],
    ['tests/conformance/a.test.ts', '../../apps/launch/src/signals/platform.ts'],
    ['tests/conformance/a.test.ts', '@ostiary/server/measure'],
    ['measures/bench/a.ts', '../drills/enrols.ts'],
    ['measures/drills/a.ts', '@ostiary/bench/session-rows'],
    ['measures/accuracy/a.ts', '../../apps/server/src/sanctions/engine/pair.ts'],
    ['measures/accuracy/a.ts', '@ostiary/server'],
    ['models/a.ts', '@ostiary/testkit/root'],
    ['models/a.ts', '../tests/testkit/root.ts'],
    ['tools/a.ts', '../apps/server/src/config.ts'],
    ['apps/server/src/strings/a.ts', '@ostiary/testkit/ports'],
    ['apps/server/src/strings/a.api.test.ts', '@ostiary/testkit/system'],
  ]
  const allowed: [string, string][] = [
    ['packages/sdk/src/a.ts', '@ostiary/contract'],
    ['apps/cli/src/a.ts', '@ostiary/server/operate'],
    ['packages/crypto/src/a.test.ts', 'node:test'],
    ['tests/acceptance/a.test.ts', '@ostiary/sdk'],
    ['tests/acceptance/a.test.ts', '@ostiary/testkit/browser/visit'],
    ['tests/testkit/measuring/a.ts', '@ostiary/server/measure'],
    ['tests/puppet/a.ts', '@ostiary/models/node-nets'],
    ['tests/conformance/a.test.ts', '@ostiary/launch/conformance'],
    ['measures/bench/a.ts', '@ostiary/server/measure'],
    ['measures/drills/a.ts', '@ostiary/testkit/measuring/figure'],
    ['models/a.ts', '@ostiary/faces'],
    ['models/a.ts', 'node:fs'],
    ['tools/a.ts', '@ostiary/server/conformance'],
    ['apps/server/src/strings/a.api.test.ts', '@ostiary/testkit/ports'],
  ]
  await assertFound(planted.map(importing), allowed.map(importing))
})

test('a planted import up, sideways or past an index is found in the server, however it is written', async () => {
  const planted: [string, string][] = [
    ['apps/server/src/platform/a.ts', '../keys/index.ts'],
    ['apps/server/src/keys/a.ts', '../strings/index.ts'],
    ['apps/server/src/strings/a.ts', '../sanctions/index.ts'],
    ['apps/server/src/strings/a.ts', '../keys/store.ts'],
    ['apps/server/src/strings/a.ts', '../wire.ts'],
    ['apps/server/src/platform/a.ts', '../config.ts'],
    ['apps/server/src/app.ts', './strings/routes.ts'],
    ['apps/server/src/newroom/a.ts', '../platform/db.ts'],
  ]
  const written = [
    `export * from '../keys/store.ts'`,
    `const k = await import('../keys/store.ts')`,
    `import type {\n  A,\n  B,\n} from '../keys/store.ts'`,
    `import '../keys/store.ts'`,
  ]
  const allowed: [string, string][] = [
    ['apps/server/src/strings/a.ts', '../keys/index.ts'],
    ['apps/server/src/strings/a.ts', '../platform/db.ts'],
    ['apps/server/src/strings/a.ts', './store.ts'],
    ['apps/server/src/app.ts', './strings/index.ts'],
  ]
  await assertFound(
    [...planted.map(importing), ...written.map((text) => file('apps/server/src/strings/a.ts', text))],
    allowed.map(importing),
  )
})

test('a planted circle is found, also one of types and one over three files, and files that share an import stand in none', async () => {
  const files = [
    file('apps/server/src/age/x.ts', `import { y } from './y.ts'`),
    file('apps/server/src/age/y.ts', `import type { X } from './x.ts'`),
    file('packages/sdk/src/a.ts', `export * from './b.ts'`),
    file('packages/sdk/src/b.ts', `import './c.ts'`),
    file('packages/sdk/src/c.ts', `const a = await import('./a.ts')`),
    file('tools/a.ts', `import './b.ts'\nimport './c.ts'`),
    file('tools/b.ts', `import './d.ts'`),
    file('tools/c.ts', `import './d.ts'`),
  ]
  const found = new Set((await check(files)).map(({ path, message }) => `${path}: ${message}`))
  const circle = 'stands in an import circle with'
  assert.deepEqual([...found].sort(), [
    `apps/server/src/age/x.ts: ${circle} apps/server/src/age/y.ts`,
    `packages/sdk/src/a.ts: ${circle} packages/sdk/src/b.ts`,
  ])
})

test('a run that sees no import fails', async () => {
  await assert.rejects(check([]), /saw no import/)
  await assert.rejects(check([file('apps/server/src/a.ts', 'export {}\n')]), /saw no import/)
  assert.deepEqual(await check([file('apps/server/src/a.ts', `import type { Y } from './b.ts'\n`)]), [])
})

test('Biome refuses a file of more than 400 lines, tests excepted', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `export const x${index} = 1\n`).join('')
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-lines-'))
  try {
    write(join(folder, 'apps/server/src/long.ts'), lines(401))
    write(join(folder, 'apps/launch/src/long.tsx'), lines(401))
    write(join(folder, 'apps/server/src/short.ts'), lines(400))
    write(join(folder, 'apps/server/src/long.test.ts'), lines(401))
    const settings = ['--vcs-enabled=false', `--config-path=${ROOT}biome.json`]
    const biome = spawnSync(join(ROOT, 'node_modules/.bin/biome'), ['lint', ...settings, '.'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const found = [...biome.stderr.matchAll(/^([^\s:]+)(?::\d+)* lint\/style\/noExcessiveLinesPerFile/gm)].map(
      ([, path]) => path,
    )
    assert.deepEqual(found.sort(), ['apps/launch/src/long.tsx', 'apps/server/src/long.ts'])
    assert.equal(biome.status, 1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
