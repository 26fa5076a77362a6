import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { findPageModels, listPageFiles } from './page-files.ts'

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder('page')
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

const pathsIn = async (folder: string) => (await listPageFiles(folder))?.map(({ path }) => path)
const INDEX = { 'index.html': '<!doctype html>' }

test('every file of the page is listed once, with its type, and compressed copies beside their originals', async () => {
  const folder = folderWith({
    ...INDEX,
    'index.html.gz': 'z',
    'assets/main-B3xY7_aQ.js': 'x',
    'assets/main-B3xY7_aQ.js.gz': 'z',
    'models/manifest.json': '{}',
    'models/blazeface/0123456789ab/blazeface.onnx': 'net',
    'ort/1.30.0/ort.wasm': 'wasm',
    'odd.gz': 'z',
  })
  const files = (await listPageFiles(folder)) ?? []
  assert.deepEqual(
    files.map(({ path, contentType, gzipFile, sizeBytes }) => [path, contentType, gzipFile !== null, sizeBytes]),
    [
      ['assets/main-B3xY7_aQ.js', 'text/javascript; charset=utf-8', true, 1],
      ['index.html', 'text/html; charset=utf-8', true, 15],
      ['models/blazeface/0123456789ab/blazeface.onnx', 'application/octet-stream', false, 3],
      ['models/manifest.json', 'application/json; charset=utf-8', false, 2],
      ['odd.gz', 'application/octet-stream', false, 1],
      ['ort/1.30.0/ort.wasm', 'application/wasm', false, 4],
    ],
  )
})

test('only files with a hash or a version in their name are cached for ever', async () => {
  const forever = ['assets/a-Dk3_-x9Z.css', 'models/dlib/00ff00ff00ff/dlib.onnx', 'ort/1.30.0/x.mjs']
  const asked = ['assets/logo.svg', 'models/manifest.json', 'ort/readme.txt', 'service-worker.js', 'a-Dk3_-x9Z.js']
  const folder = folderWith({ ...INDEX, ...Object.fromEntries([...forever, ...asked].map((path) => [path, path])) })
  const files = (await listPageFiles(folder)) ?? []
  const listed = (wanted: boolean) => files.filter((file) => file.isImmutable === wanted).map(({ path }) => path)
  assert.deepEqual(listed(true), forever.toSorted())
  assert.deepEqual(listed(false), ['index.html', ...asked].toSorted())
})

test('a file without a hash in its name gets another tag when its bytes change', async () => {
  const folder = folderWith(INDEX)
  const before = await listPageFiles(folder)
  assert.deepEqual(await listPageFiles(folder), before)
  writeFileSync(join(folder, 'index.html'), '<!doctype HTML>')
  const after = await listPageFiles(folder)
  assert.notEqual(after?.[0]?.tag, before?.[0]?.tag)
})

test('a compressed copy that is older than its original is not used', async () => {
  const folder = folderWith({ ...INDEX, 'index.html.gz': 'z' })
  utimesSync(join(folder, 'index.html.gz'), 1_000, 1_000)
  assert.equal((await listPageFiles(folder))?.[0]?.gzipFile, null)
})

test('links, hidden files and names with special characters are left out', async () => {
  const outside = folderWith({ 'secret.txt': 'secret', 'folder/secret.txt': 'secret' })
  const folder = folderWith({
    ...INDEX,
    '.env': 'x',
    '.git/config': 'x',
    'a/:id.js': 'x',
    'b/*': 'x',
    'c d.js': 'x',
  })
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'))
  symlinkSync(join(outside, 'folder'), join(folder, 'linked'))
  symlinkSync(join(folder, 'index.html'), join(folder, 'inside.html'))
  assert.deepEqual(await pathsIn(folder), ['index.html'])
})

test('the folder itself may be a link', async () => {
  const folder = folderWith(INDEX)
  const place = folderWith({})
  symlinkSync(folder, join(place, 'current'))
  assert.deepEqual(await pathsIn(join(place, 'current')), ['index.html'])
})

test('a folder that does not exist, or contains no page, gives no page', async () => {
  const folder = folderWith({ 'assets/index.html': 'x' })
  assert.equal(await listPageFiles(folder), undefined)
  assert.equal(await listPageFiles(join(folder, 'nothing')), undefined)
  assert.equal(await listPageFiles(join(folder, 'assets/index.html')), undefined)
})

test('the models of a page are those of its manifest, if it can be read', async () => {
  const folder = folderWith({ ...INDEX, 'models/manifest.json': '{"id":"set-1","hash":"h","nets":[]}' })
  assert.deepEqual(await findPageModels(folder), { id: 'set-1', hash: 'h' })
  for (const content of ['', '[]', 'null', '{"id":"set-1"}']) {
    writeFileSync(join(folder, 'models/manifest.json'), content)
    assert.equal(await findPageModels(folder), undefined, content)
  }
  assert.equal(await findPageModels(join(folder, 'models')), undefined)
})
