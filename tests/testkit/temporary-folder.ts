import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** An empty folder, which goes when the file or the test ends that asked for it. Not for hooks: it would go when the hook ends. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `ostiary-${name}-`))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
