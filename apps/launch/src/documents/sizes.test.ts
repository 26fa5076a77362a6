import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { BARCODE_READER } from '../../runtime-files.ts'
import { LOADED_BYTES } from './offers.ts'

const PAGE = fileURLToPath(new URL('../../', import.meta.url))
/** What sessions that may ask for a document load more, before the step is opened. */
const PART_GZIP_BYTES_MAX = 60 * 1024
/** The page names megabytes with one decimal, and rather too many than too few. */
const ROUNDING_BYTES = 100_000

const folder = mkdtempSync(join(tmpdir(), 'ostiary-sizes-'))
await build({ configFile: join(PAGE, 'vite.config.ts'), logLevel: 'error', build: { outDir: folder } })
const assets = join(folder, 'assets')
const files = new Map(readdirSync(assets).map((name) => [name, readFileSync(join(assets, name))]))
after(() => rmSync(folder, { recursive: true, force: true }))

const find = (pattern: RegExp) => [...files].filter(([name]) => pattern.test(name)).map(([, bytes]) => bytes)
const textsOf = (tag: string): { 'guidance.doc_hold': string } =>
  JSON.parse(readFileSync(join(PAGE, `src/texts/documents/${tag}.json`), 'utf8'))
const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0)
const only = (pattern: RegExp): Buffer => {
  const found = find(pattern)
  assert.equal(found.length, 1, String(pattern))
  return found[0] ?? assert.fail()
}

test('the document step adds at most 60 KB to the page before it is opened, in any language', () => {
  const part = [only(/^documents-.*\.js$/), only(/^style-.*\.css$/)]
  for (const tag of ['en', 'de', 'ar']) {
    const { 'guidance.doc_hold': sentence } = textsOf(tag)
    const texts = find(new RegExp(`^${tag}-.*\\.js$`)).filter((bytes) => bytes.includes(sentence))
    assert.equal(texts.length, 1, tag)
    const bytes = sum([...part, ...texts].map((file) => gzipSync(file).length))
    assert.ok(bytes <= PART_GZIP_BYTES_MAX, `${tag}: ${bytes}`)
  }
})

test('what reads a document is in files of its own, as large as the page says before it loads them', () => {
  const lines = only(/^reader-worker-.*\.js$/).length
  const barcodes = lines + only(/^reader-(?!worker).*\.js$/).length + BARCODE_READER.facts.sizeBytes
  for (const [choice, bytes] of [
    ['passport', lines],
    ['card', lines],
    ['licence', barcodes],
  ] as const) {
    const tooMany = LOADED_BYTES[choice] - bytes
    assert.ok(
      tooMany >= 0 && tooMany < ROUNDING_BYTES,
      `${choice}: ${bytes}, and the page says ${LOADED_BYTES[choice]}`,
    )
  }
  const shell = only(/^index-.*\.js$/)
  for (const own of ['doc_wrong_side', 'zxing']) assert.ok(!shell.includes(own), own)
})
