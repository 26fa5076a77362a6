import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sha256, takeFiles } from './fetch.ts'

const work = mkdtempSync(join(tmpdir(), 'ostiary-fetch-test-'))
after(() => rmSync(work, { recursive: true, force: true }))
const archive = join(work, 'some.tgz')
mkdirSync(join(work, 'package/model'), { recursive: true })
writeFileSync(join(work, 'package/model/a.bin'), 'weights')
writeFileSync(join(work, 'package/index.js'), 'throw 1')
execFileSync('tar', ['-czf', archive, '-C', work, 'package'])
const digest = sha256(Buffer.from('weights'))

test('only the named files leave the archive', () => {
  const folder = join(work, 'good')
  takeFiles(archive, [{ path: 'model/a.bin', sha256: digest }], folder)
  assert.equal(readFileSync(join(folder, 'model/a.bin'), 'utf8'), 'weights')
  assert.equal(existsSync(join(folder, 'index.js')), false)
})

test('a file with another digest than the pinned one is refused, and nothing is kept', () => {
  const folder = join(work, 'bad')
  const files = [
    { path: 'model/a.bin', sha256: digest },
    { path: 'index.js', sha256: digest },
  ]
  assert.throws(() => takeFiles(archive, files, folder), /index.js has the SHA-256 [0-9a-f]{64}, expected is/)
  assert.equal(existsSync(folder), false)
})
