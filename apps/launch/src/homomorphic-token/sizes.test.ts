import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { readFingerprints } from '../../key-holder-pin.ts'

const PAGE = fileURLToPath(new URL('../../', import.meta.url))
const PINS = ['A'.repeat(43), '-_'.repeat(21).padEnd(43, '9')]
/** What sessions with tokens load more than others of area D: the part, and the worker when a face has been captured. */
const GZIP_BYTES_MAX = { part: 4 * 1024, worker: 14 * 1024 }
/** Only the part, the worker and the texts know these. */
const OWN = ['token_refused', 'ostiary-token/1', 'ostiary-homomorphic-token', 'tokenEnd.no_hint.title']

/** Builds the page with these fingerprints and returns its scripts. */
async function buildWith(fingerprints: string | undefined): Promise<Map<string, Buffer>> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-token-build-'))
  const before = process.env.KEY_HOLDER_FINGERPRINT
  if (fingerprints === undefined) delete process.env.KEY_HOLDER_FINGERPRINT
  else process.env.KEY_HOLDER_FINGERPRINT = fingerprints
  try {
    await build({ configFile: join(PAGE, 'vite.config.ts'), logLevel: 'error', build: { outDir: folder } })
    const assets = join(folder, 'assets')
    const names = readdirSync(assets).filter((name) => name.endsWith('.js'))
    return new Map(names.map((name) => [name, readFileSync(join(assets, name))]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
    if (before === undefined) delete process.env.KEY_HOLDER_FINGERPRINT
    else process.env.KEY_HOLDER_FINGERPRINT = before
  }
}

describe('a build with pins', () => {
  let files: Map<string, Buffer>
  before(async () => {
    files = await buildWith(` ${PINS.join(', ')} `)
  })
  after(() => files.clear())
  const only = (pattern: RegExp): Buffer => {
    const found = [...files].filter(([name]) => pattern.test(name))
    assert.equal(found.length, 1, String(pattern))
    return found[0]?.[1] ?? assert.fail()
  }

  test('has the fingerprints in the part that compares them, and nowhere else', () => {
    for (const pin of PINS) {
      const names = [...files].filter(([, bytes]) => bytes.includes(pin)).map(([name]) => name)
      assert.ok(names.length === 1 && names[0]?.startsWith('homomorphic-token-'), String(names))
    }
  })

  test('has the token in files of its own, which the page and other sessions of area D do not load', () => {
    for (const other of [/^index-.*\.js$/, /^verification-.*\.js$/, /^documents-.*\.js$/, /^worker-.*\.js$/])
      for (const own of OWN) assert.ok(!only(other).includes(own), `${other}: ${own}`)
    const worker = only(/^token-worker-.*\.js$/)
    assert.doesNotMatch(worker.toString(), /import\s*\(|from\s*"\.\//, 'one request')
    assert.ok(gzipSync(worker).length <= GZIP_BYTES_MAX.worker, `${gzipSync(worker).length}`)
    const part = gzipSync(only(/^homomorphic-token-.*\.js$/)).length
    assert.ok(part <= GZIP_BYTES_MAX.part, `${part}`)
  })
})

test('a build without pins trusts no key holder', async () => {
  const files = await buildWith(undefined)
  for (const [, bytes] of files) assert.ok(!PINS.some((pin) => bytes.includes(pin)))
  assert.deepEqual(readFingerprints({}), [])
})

test('what is no fingerprint stops the build', () => {
  for (const wrong of ['A'.repeat(42), `${PINS[0]}=`, `${PINS[0]} ${PINS[1]}`])
    assert.throws(() => readFingerprints({ KEY_HOLDER_FINGERPRINT: wrong }), /is no fingerprint/)
  assert.deepEqual(readFingerprints({ KEY_HOLDER_FINGERPRINT: ` ${PINS[0]} ,${PINS[1]},` }), PINS)
})
