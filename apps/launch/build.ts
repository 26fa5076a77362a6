/**
 * `npm run build -w apps/launch`: builds everything that a static host needs into dist/. With `--shell`, builds no models (for
 * work on the screens). With `--screen-catalog`, builds the screen catalog too. With `--uncompressed`, leaves no compressed copies (for a check of
 * the digest, and for tests). With `--out <folder>`, builds into another folder. `KEY_HOLDER_FINGERPRINT` names the key holders that the page trusts.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { BARCODE_READER, RUNTIME } from './runtime-files.ts'
import type { Releases } from './src/cache-rules.ts'
import { readManifest } from './src/engine/model-files.ts'
import { DIGEST_PATH } from './src/ledger/page-digest.ts'

const HERE = import.meta.dirname
const OUT = process.argv.indexOf('--out') + 1
const DIST = OUT > 0 ? resolve(process.argv[OUT] ?? missing()) : join(HERE, 'dist')
const MODELS = join(HERE, '../../.models')
const COMPRESSIBLE = /\.(html|js|mjs|css|json|svg|wasm|onnx)$/
/** Compressing a smaller file does not pay off. */
const COMPRESSED_BYTES_MIN = 512

const isShell = process.argv.includes('--shell')
await build({
  configFile: join(HERE, 'vite.config.ts'),
  logLevel: 'warn',
  build: { outDir: DIST, emptyOutDir: true },
  ...(process.argv.includes('--screen-catalog') && { mode: 'screen-catalog' }),
})
const models = isShell ? 'none' : copyModels()
copyRuntime()
await buildServiceWorker({ page: hashOfPage(), models, runtime: RUNTIME.facts.wasm.sha256.slice(0, 12) })
const digest = writeDigest()
if (!isShell && !process.argv.includes('--uncompressed')) compress()
report()
console.log(`page digest ${digest}`)

/** Copies the nets and their manifest. Returns the hash of the set. */
function copyModels(): string {
  const manifestPath = join(MODELS, 'manifest.json')
  if (!existsSync(manifestPath)) throw new Error('There are no models: run tools/bootstrap first')
  const { hash, nets } = readManifest(JSON.parse(readFileSync(manifestPath, 'utf8')))
  copy(manifestPath, 'models/manifest.json')
  for (const { path, sha256: pinned } of nets.values()) {
    const from = join(MODELS, path.slice('models/'.length))
    if (sha256(readFileSync(from)) !== pinned)
      throw new Error(`${path} is not what the manifest says: run tools/bootstrap`)
    copy(from, path)
  }
  return hash.slice(0, 12)
}

function copyRuntime(): void {
  for (const { from, to } of RUNTIME.files) copy(from, to)
  copy(BARCODE_READER.from, BARCODE_READER.facts.path)
}

function copy(from: string, to: string): void {
  const target = join(DIST, to)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(from, target)
}

/** Its name has no hash, because browsers look for updates under the same name. */
async function buildServiceWorker(releases: Releases): Promise<void> {
  await build({
    configFile: false,
    root: HERE,
    logLevel: 'warn',
    define: { RELEASES: JSON.stringify(releases) },
    build: {
      target: 'es2022',
      outDir: DIST,
      emptyOutDir: false,
      modulePreload: false,
      rolldownOptions: {
        input: join(HERE, 'src/service-worker.ts'),
        output: { format: 'iife', entryFileNames: 'service-worker.js' },
      },
    },
  })
}

/** Asset names contain their hashes, so the page and the list of assets identify the release. */
function hashOfPage(): string {
  const hash = createHash('sha256').update(readFileSync(join(DIST, 'index.html')))
  for (const name of readdirSync(join(DIST, 'assets')).sort()) hash.update(name)
  return hash.digest('hex').slice(0, 12)
}

/**
 * Lists every file with its SHA-256, as `sha256sum` does; the SHA-256 of the list is the digest of the page. Returns it. The compressed
 * copies are not listed: they depend on the version of zlib, and a reader unpacks them. docs/releasing.md has the same as a shell command.
 */
function writeDigest(): string {
  const lines = listFiles().map(
    (path) => `${sha256(readFileSync(path))}  ${relative(DIST, path).replaceAll(sep, '/')}\n`,
  )
  const sums = lines.join('')
  const digest = sha256(sums)
  const [, script] = /<script [^>]*src="\.\/([^"]+)"/.exec(readFileSync(join(DIST, 'index.html'), 'utf8')) ?? []
  if (script === undefined) throw new Error('index.html names no script')
  writeFileSync(join(DIST, 'sha256sums.txt'), sums)
  writeFileSync(join(DIST, DIGEST_PATH), `${digest} ${script}\n`)
  return digest
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}

function compress(): void {
  for (const path of listFiles()) {
    const bytes = readFileSync(path)
    if (!COMPRESSIBLE.test(path) || bytes.length < COMPRESSED_BYTES_MIN) continue
    // Smaller blocks than usual: the first load is 89 bytes less.
    const compressed = gzipSync(bytes, { level: 9, memLevel: 7 })
    if (compressed.length < 0.95 * bytes.length) writeFileSync(`${path}.gz`, compressed)
  }
}

function missing(): never {
  throw new Error('--out needs a folder')
}

function report(): void {
  const rows = listFiles()
    .filter((path) => !path.endsWith('.gz'))
    .map((path) => {
      const bytes = readFileSync(path)
      const compressed = existsSync(`${path}.gz`) ? readFileSync(`${path}.gz`).length : bytes.length
      return `${String(bytes.length).padStart(10)} ${String(compressed).padStart(9)} gz  ${path.slice(DIST.length + 1)}`
    })
  console.log(rows.join('\n'))
}

function listFiles(): string[] {
  return readdirSync(DIST, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}
