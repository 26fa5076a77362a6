/** Compiles texts with a compiler of this checkout, for the tests of the packages. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../root.ts'

/** What the compiler says about these files, which stand in a folder of this checkout while it runs; empty when it is content. */
export function compile(files: Readonly<Record<string, string>>, compilerOptions: Record<string, unknown>): string {
  mkdirSync(join(ROOT, '.packages'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.packages/compile-'))
  try {
    const settings = { compilerOptions: { noEmit: true, strict: true, ...compilerOptions }, include: ['**/*.ts'] }
    for (const [path, text] of Object.entries({ ...files, 'tsconfig.json': JSON.stringify(settings) })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const command = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]
    return spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
