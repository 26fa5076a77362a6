/** Archives as `npm pack` makes them: sorted, with one time, without an owner. Same files, same bytes. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Content by path. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** `executable` names files with a `#!` line. */
export function packArchive(files: Files, executable: readonly string[] = []): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-pack-'))
  try {
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, 'package', path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      // Not left to the umask: the archive has it.
      chmodSync(file, executable.includes(path) ? 0o755 : 0o644)
    }
    const options = ['pack', './package', '--ignore-scripts', '--json']
    const printed = execFileSync('npm', options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const [packed] = JSON.parse(printed) as { filename: string; entryCount: number }[]
    if (packed?.entryCount !== Object.keys(files).length) throw new Error('npm did not pack every file')
    return readFileSync(join(folder, packed.filename))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
