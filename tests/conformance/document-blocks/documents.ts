import { globSync, readFileSync } from 'node:fs'
import { ROOT } from '@ostiary/testkit/run'
import { type Block, blocksOf } from './extract.ts'

/** Every README and document of the repository, the root's README first. */
export function readDocuments(): Map<string, Block[]> {
  const found = globSync(['*.md', '{apps,clients,deploy,docs,measures,models,packages,tests,tools}/**/*.md'], {
    cwd: ROOT,
    exclude: (path) => /(^|\/)(node_modules|dist|vendor)($|\/)/.test(path),
  })
  const others = found.filter((path) => path !== 'README.md' && path !== 'CHANGELOG.md').sort()
  return new Map(['README.md', ...others].map((path) => [path, blocksOf(path, readFileSync(`${ROOT}${path}`, 'utf8'))]))
}
