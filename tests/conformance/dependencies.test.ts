/** Each package.json names what the files of its workspace import: a package that only happens to be installed may go or change. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'

interface Package {
  name: string
  workspaces?: string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const readPackage = (folder: string): Package => JSON.parse(readFileSync(`${ROOT}${folder}/package.json`, 'utf8'))
const root = readPackage('.')
const folders = globSync(
  (root.workspaces ?? []).map((pattern) => `${pattern}/package.json`),
  { cwd: ROOT },
)
  .map((file) => dirname(file))
  .sort()
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '')

const IMPORTS = [
  /(?:^|\n)(?:import|export)\s[^'"]*?from\s+'([^'./][^']*)'/g,
  /(?:^|\n)import\s+'([^'./][^']*)'/g,
  /\bimport\(\s*'([^'./][^']*)'\s*\)/g,
  /\b(?:import\.meta|createRequire\(import\.meta\.url\))\.resolve\(\s*['`]([^'`./][^'`]*)['`]\s*\)/g,
]

/** dependency-cruiser loads its parser by name. */
const LOADED_BY_NAME: Readonly<Record<string, readonly string[]>> = { tools: ['@swc/core'] }

/** `a/b` of `a` and `@scope/a/b` of `@scope/a`. */
const packageOf = (target: string) => /^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target

function importedBy(folder: string): string[] {
  const found = sources
    .filter((file) => file.startsWith(`${folder}/`))
    .flatMap((file) => {
      const text = readText(file)
      return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => packageOf(match[1] ?? '')))
    })
  // Modules that a plugin of ours makes have no package.
  const isPackage = (name: string) => !/^(node|virtual):/.test(name) && !builtinModules.includes(name)
  return [...new Set(found)].filter(isPackage).sort()
}

/** Empty for a file that was deleted and is not yet committed. */
function readText(file: string): string {
  try {
    return readFileSync(`${ROOT}${file}`, 'utf8')
  } catch {
    return ''
  }
}

describe('a workspace declares what it imports, and nothing else', () => {
  for (const folder of folders) {
    test(folder, () => {
      const { name, dependencies, devDependencies } = readPackage(folder)
      const declared = Object.keys({ ...dependencies, ...devDependencies }).sort()
      assert.deepEqual(
        [...importedBy(folder).filter((imported) => imported !== name), ...(LOADED_BY_NAME[folder] ?? [])].sort(),
        declared,
      )
    })
  }
})

describe('installing packages', () => {
  const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
    packages: Record<string, { integrity?: string; link?: boolean; hasInstallScript?: boolean }>
  }
  const foreign = Object.entries(packages).filter(([path]) => path.includes('node_modules/'))

  test('runs no script of a package', () => {
    assert.match(readFileSync(`${ROOT}.npmrc`, 'utf8'), /^ignore-scripts=true$/m)
    // swc's looks for its binary, which comes as a package; the next warns about versions, the last asks for donations. A package that does not work without its script cannot be used here.
    const withScript = foreign.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
    assert.deepEqual(withScript, ['node_modules/@swc/core', 'node_modules/protobufjs', 'node_modules/tesseract.js'])
  })

  test('takes only packages whose SHA-512 is on record', () => {
    const without = foreign.filter(([, { link, integrity }]) => !link && !integrity?.startsWith('sha512-'))
    assert.deepEqual(without, [])
    assert.ok(foreign.length > 200)
  })
})

test('the folders of the root are those of docs/architecture.md', () => {
  const tracked = execFileSync('git', ['ls-tree', '-d', '--name-only', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
  const visible = tracked.split('\n').filter((folder) => folder !== '' && !folder.startsWith('.'))
  assert.deepEqual(visible, ['apps', 'clients', 'deploy', 'docs', 'measures', 'models', 'packages', 'tests', 'tools'])
})
