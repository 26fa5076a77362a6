import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/** Where `npm run packages` writes them, in a checkout and in the image. */
export const PACKAGES_FOLDER = fileURLToPath(new URL('../../../../.packages', import.meta.url))
/** What an installation offers to install. */
export const PACKAGE_NAMES = ['ostiary-sdk.tgz', 'ostiary-cli.tgz'] as const
export type PackageName = (typeof PACKAGE_NAMES)[number]

export interface PackageFile {
  name: PackageName
  archive: Buffer
  /** SHA-256. */
  digest: Buffer
  /** As its package.json says; undefined when it has none that can be read. */
  version: string | undefined
}

/** The packages that are in the folder now. */
export async function readPackages(folder: string): Promise<PackageFile[]> {
  const found = await Promise.all(
    PACKAGE_NAMES.map(async (name) => ({ name, archive: await readFile(join(folder, name)).catch(() => undefined) })),
  )
  return found.flatMap(({ name, archive }) =>
    archive
      ? [{ name, archive, digest: createHash('sha256').update(archive).digest(), version: versionIn(archive) }]
      : [],
  )
}

const BLOCK = 512

/** Reads the version out of an archive as npm packs it. */
function versionIn(archive: Buffer): string | undefined {
  try {
    const tar = gunzipSync(archive)
    for (let at = 0; at < tar.length; ) {
      const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/s, '')
      const sizeBytes = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8)
      if (!(sizeBytes >= 0)) return undefined
      const start = at + BLOCK
      if (name === 'package/package.json') return readVersion(tar.toString('utf8', start, start + sizeBytes))
      at = start + Math.ceil(sizeBytes / BLOCK) * BLOCK
    }
  } catch {
    // Not an archive: it has no version.
  }
  return undefined
}

function readVersion(text: string): string | undefined {
  const { version } = JSON.parse(text) as { version?: unknown }
  return typeof version === 'string' ? version : undefined
}
