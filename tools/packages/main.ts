/**
 * `npm run packages`: makes the packages that integrators install, in `.packages`: ostiary-sdk.tgz and ostiary-cli.tgz. The API serves them under `/sdk/`.
 * Same sources, same bytes.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCli } from './cli.ts'
import { ROOT } from './root.ts'
import { makeSdk } from './sdk.ts'
import { packArchive } from './archive.ts'

const folder = join(ROOT, '.packages')

function write(name: string, archive: Buffer): void {
  mkdirSync(folder, { recursive: true })
  // In one step: an API that starts meanwhile reads the old file or the new one.
  writeFileSync(join(folder, `${name}.new`), archive)
  renameSync(join(folder, `${name}.new`), join(folder, name))
  const digest = createHash('sha256').update(archive).digest('hex')
  console.log(`packages     .packages/${name}: ${Math.ceil(archive.length / 1024)} KB, SHA-256 ${digest}`)
}

const sdk = await makeSdk()
const cli = await makeCli()
write('ostiary-sdk.tgz', packArchive(sdk.files))
write('ostiary-cli.tgz', packArchive(cli.files, cli.executable))
