import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { VERSION } from '@ostiary/contract/version'
import { packArchive } from './archive.ts'
import { makeSdk, type SdkPackage } from './sdk.ts'
import { compile } from './testing/compile.ts'

const sdk = await makeSdk()

const textOf = (path: string) => String(sdk.files[path] ?? assert.fail(`${path} is not in the package`))
const manifest = () => JSON.parse(textOf('package.json')) as Record<string, never>

/** A file of the package with all that it loads at once, in bytes. */
function sizeOf(path: string, seen = new Set<string>()): number {
  if (seen.has(path)) return 0
  seen.add(path)
  const text = textOf(path)
  const imported = [...text.matchAll(/(?:from|import|require\()\s*["'`](\.\/[^"'`]+)["'`]/g)].map(
    ([, name = '']) => name,
  )
  const folder = path.slice(0, path.lastIndexOf('/'))
  return Buffer.byteLength(text) + imported.reduce((sum, name) => sum + sizeOf(`${folder}/${name.slice(2)}`, seen), 0)
}

test('it has the version of the API, and depends on nothing', () => {
  assert.equal(manifest().version, VERSION)
  for (const key of [
    'dependencies',
    'peerDependencies',
    'optionalDependencies',
    'scripts',
    'devDependencies',
    'private',
  ])
    assert.equal(manifest()[key], undefined, key)
})

test('every file that the manifest names is there, and nothing that only we need', () => {
  const named = JSON.stringify(manifest()).match(/\.\/[^"]+\.[a-z]+(?=")/g) ?? []
  assert.ok(named.length > 8)
  for (const path of named) textOf(path.slice(2))
  for (const path of Object.keys(sdk.files)) assert.doesNotMatch(path, /test|src\//, path)
  assert.deepEqual(
    ['LICENSE', 'LICENSES-OF-OTHERS.txt', 'README.md'].filter((path) => textOf(path) === ''),
    [],
  )
})

test('the validator is not in it, neither in the code nor in the types; of others it has jose alone', () => {
  assert.deepEqual(sdk.contains, ['node_modules/jose'])
  assert.match(textOf('LICENSES-OF-OTHERS.txt'), /^jose \d/m)
  for (const [path, text] of Object.entries(sdk.files))
    if (!path.endsWith('.txt')) assert.doesNotMatch(String(text), /typebox|TObject|@ostiary\/(contract|crypto)/, path)
})

test('the server’s code has at most 80 KB, the browser’s at most 2 KB and no further file', () => {
  for (const path of Object.keys(sdk.files).filter((name) => /^(esm|cjs)\/[a-z]+\.c?js$/.test(name)))
    assert.ok(sizeOf(path) <= 80_000, `${path} has ${sizeOf(path)} bytes`)
  for (const path of ['esm/embed.js', 'cjs/embed.cjs']) {
    assert.ok(sizeOf(path) <= 2048, `${path} has ${sizeOf(path)} bytes`)
    assert.doesNotMatch(textOf(path), /\bimport\b|\brequire\b/)
    assert.match(textOf(path), /Object\.assign\(/, `${path}: the bundler has left out a call whose result nobody reads`)
  }
})

test('no code in it names a module of Node or a global of Node: it runs in Deno, Bun and workers too', () => {
  for (const path of Object.keys(sdk.files).filter((name) => /\.c?js$/.test(name))) {
    assert.doesNotMatch(textOf(path), /["'`]node:/, path)
    assert.doesNotMatch(textOf(path), /\b(Buffer|__dirname)\b/, path)
  }
})

test('two builds are equal, byte by byte', async () => {
  const digest = (files: SdkPackage['files']) => createHash('sha256').update(packArchive(files)).digest('hex')
  assert.equal(digest((await makeSdk()).files), digest(sdk.files))
})

test('an archive depends on names and content of its files alone', () => {
  const manifest = JSON.stringify({ name: 'packed', version: '1.0.0' })
  const files = { 'b.js': 'b', 'a/c.js': 'c', 'package.json': manifest }
  const archive = packArchive(files, ['b.js'])
  const umask = process.umask(0o077)
  try {
    const others = { 'package.json': manifest, 'a/c.js': Buffer.from('c'), 'b.js': 'b' }
    assert.deepEqual(packArchive(others, ['b.js']), archive)
  } finally {
    process.umask(umask)
  }
  const listed = spawnSync('tar', ['-tvzf', '-'], { input: archive, encoding: 'utf8' }).stdout
  for (const line of [/^-rw-r--r-- 0\/0 +1 1985-10-26 .* package\/a\/c\.js$/m, /^-rwxr-xr-x 0\/0 .* package\/b\.js$/m])
    assert.match(listed, line)
  assert.throws(() => packArchive({ ...files, '.npmrc': 'left out by npm' }), /did not pack every file/)
})

test('a printed type is the static type of its schema, and the other way round', () => {
  const printed = textOf('types/esm/types/contract.d.ts')
  const names = [...printed.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name)
  assert.ok(names.length > 50, `${names.length} types`)
  const lines = names.map((name) => `export const ${name}: Same<packed.${name}, source.${name}> = true`)
  const files = {
    'packed.ts': printed,
    'same.ts': `import type * as source from '@ostiary/contract'
import type * as packed from './packed.ts'
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
${lines.join('\n')}
`,
  }
  const options = {
    module: 'nodenext',
    target: 'es2024',
    types: [],
    lib: ['es2024', 'dom', 'dom.iterable'],
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  }
  assert.equal(compile(files, options), '')
  const planted = {
    ...files,
    'packed.ts': printed.replace(/(interface CreatedSession \{[^}]*?)token: string/, '$1token?: string'),
  }
  assert.match(compile(planted, options), /same\.ts.*\n?.*'true' is not assignable to type 'false'/i)
})

/** The names that an entry of the package gives out. */
const exportedNames = new Set(
  ['index', 'webhooks/index', 'fixtures/index', 'embed/index'].flatMap((entry) =>
    [
      ...textOf(`types/esm/${entry}.d.ts`).matchAll(/^export (?:type )?\{([^}]*)\}|^export \S+ (?:function )?(\w+)/gm),
    ].flatMap(([, list = '', name = '']) => [
      name,
      ...list.split(',').map((one) => one.replace(/^\s*(?:type )?| as .*$|\s+$/g, '')),
    ]),
  ),
)
const FIELD = /^\s+(?:readonly )?('[^']+'|[\w$]+)\??[:(]/

/** The fields of the types of a file that an integrator can see, and those of them that have no text. */
function fieldsOf(path: string): { all: string[]; bare: string[] } {
  const isShown = (name: string) =>
    path.startsWith('types/esm/types/') || exportedNames.has(name) || /^create\w+Client$/.test(name)
  const statements = textOf(path).split(/^(?=export )/m)
  const shown = statements.flatMap((text) => {
    const name = /^export (?:declare )?(?:interface|type|class|function) (\w+)/.exec(text)?.[1]
    if (name === undefined || !isShown(name)) return []
    const lines = text.split('\n')
    return lines.flatMap((line, at) => {
      const field = FIELD.exec(line)?.[1]
      if (field === undefined || field === 'constructor') return []
      return [{ name: `${path}: ${name}.${field}`, isBare: !lines[at - 1]?.trimEnd().endsWith('*/') }]
    })
  })
  return { all: shown.map(({ name }) => name), bare: shown.filter(({ isBare }) => isBare).map(({ name }) => name) }
}

test('[P14] every field of the types that an integrator sees has a hover text', () => {
  const found = Object.keys(sdk.files)
    .filter((path) => /^types\/esm\/.*\.d\.ts$/.test(path))
    .map(fieldsOf)
  assert.ok(found.flatMap(({ all }) => all).length > 500)
  assert.deepEqual(
    found.flatMap(({ bare }) => bare),
    [],
  )
  assert.doesNotMatch(textOf('types/esm/index.d.ts'), /\/\*\* Area [A-E]\. \*\//)
})
