import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { VERSION } from '@ostiary/contract/version'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createHarness } from '../testing/harness.ts'
import { createHttp } from './http.ts'
import { readPackages } from './package-files.ts'
import { packageRoutes } from './package-routes.ts'

const folder = temporaryFolder('packages')
const sdk = archiveOf({ 'package/README.md': 'x'.repeat(700), 'package/package.json': `{"version":"${VERSION}"}` })

writeFileSync(join(folder, 'ostiary-sdk.tgz'), sdk)
writeFileSync(join(folder, 'ostiary-cli.tgz'), archiveOf({ 'package/package.json': '{"version":"0.0.9"}' }))
const harness = await createHarness()
// Beside the folder of this checkout, which has packages or not.
const app = createHttp({ ...harness.wire.platform, trustProxy: [], callerOf: () => undefined })
app.register(packageRoutes, { prefix: '/here', version: VERSION, folder })
app.register(packageRoutes, { prefix: '/nowhere', version: VERSION, folder: join(folder, 'nothing') })
after(() => app.close())

/** Header and content of each file, padded; enough for a reader that looks at names and sizes. */
function archiveOf(files: Record<string, string>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512)
    header.write(name, 0)
    header.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124)
    const content = Buffer.alloc(Math.ceil(text.length / 512) * 512)
    content.write(text)
    return [header, content]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

test('GET answers 200 to anybody with the archive, its length, type and digest', async () => {
  const response = await app.inject('/here/sdk/ostiary-sdk.tgz')
  assert.equal(response.statusCode, 200)
  assert.deepEqual(response.rawPayload, sdk)
  const digest = createHash('sha256').update(sdk)
  assert.equal(response.headers['content-type'], 'application/gzip')
  assert.equal(response.headers['content-length'], String(sdk.length))
  assert.equal(response.headers['content-digest'], `sha-256=:${digest.copy().digest('base64')}:`)
  assert.equal(response.headers.etag, `"${digest.digest('hex')}"`)
  assert.equal(response.headers['cache-control'], 'public, no-cache')
  assert.equal(response.headers['content-disposition'], 'attachment; filename="ostiary-sdk.tgz"')
})

test('HEAD answers 200 with the same headers and no body', async () => {
  const head = await app.inject({ method: 'HEAD', url: '/here/sdk/ostiary-sdk.tgz' })
  assert.equal(head.statusCode, 200)
  assert.equal(head.headers['content-length'], String(sdk.length))
  assert.equal(head.body, '')
})

test('a caller that has the archive gets 304', async () => {
  const { headers } = await app.inject('/here/sdk/ostiary-sdk.tgz')
  const again = await app.inject({
    url: '/here/sdk/ostiary-sdk.tgz',
    headers: { 'if-none-match': String(headers.etag) },
  })
  assert.equal(again.statusCode, 304)
  assert.equal(again.body, '')
  const other = await app.inject({ url: '/here/sdk/ostiary-sdk.tgz', headers: { 'if-none-match': '"another"' } })
  assert.equal(other.statusCode, 200)
})

test('one of another version, or none, is 404 and says what to do', async () => {
  const cases = [
    ['/here/sdk/ostiary-cli.tgz', 'ostiary-cli.tgz of this installation is of another version than its API'],
    ['/nowhere/sdk/ostiary-sdk.tgz', 'This installation has no ostiary-sdk.tgz'],
  ] as const
  for (const [url, message] of cases) {
    const response = await app.inject(url)
    assert.deepEqual(response.json(), {
      statusCode: 404,
      message: `${message}. Its operator can run in the checkout: npm run packages, and start the API again`,
      code: 'NOT_FOUND',
      requestId: response.headers['x-request-id'],
    })
  }
})

test('no other file of the folder has an address', async () => {
  for (const name of ['', 'ostiary-sdk.tgz.new', '..%2fpackage.json', 'ostiary-sdk'])
    assert.equal((await app.inject(`/here/sdk/${name}`)).statusCode, 404, name)
})

test('the packages of this checkout have the paths /sdk/…', async () => {
  for (const name of ['ostiary-sdk.tgz', 'ostiary-cli.tgz']) {
    const response = await harness.inject(`/sdk/${name}`)
    if (response.statusCode !== 200) assert.match(response.json().message, /npm run packages/)
  }
})

test('what is no archive has no version', async () => {
  writeFileSync(join(folder, 'ostiary-sdk.tgz'), 'no archive')
  writeFileSync(join(folder, 'ostiary-cli.tgz'), gzipSync('x'.repeat(2000)))
  assert.deepEqual(
    (await readPackages(folder)).map(({ name, version }) => [name, version]),
    [
      ['ostiary-sdk.tgz', undefined],
      ['ostiary-cli.tgz', undefined],
    ],
  )
})
