import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { eventually, hostOf } from '@ostiary/testkit/browser/system'
import { newVisitorWithoutCamera } from '@ostiary/testkit/browser/visitors'

const host = hostOf('OSTIARY_TEST_KEY_ONE')
const SHELL_BYTES_MAX = 60 * 1024
/** Not part of the shell: the worker that runs the models, which loads in the background like them, and answers of the API. */
const NOT_SHELL = /^\/launch\/(models\/|ort\/|assets\/(worker|ort-runtime)-|api\/)/

test('[merge] without models and their runtime the page is at most 60 KB as it travels', async (t) => {
  const { visit, device } = await newVisitorWithoutCamera(t)
  await visit.open((await host.create()).launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.attributeIs('data-status', 'not_found')
  await visit.act('handoff-here')
  await visit.attributeIs('data-status', 'ready')
  await eventually('the service worker comes last', () =>
    device.proxy.requests.find(({ path, status }) => path.endsWith('/service-worker.js') && status),
  )
  const shell = device.proxy.requests.filter(({ method, path }) => method === 'GET' && !NOT_SHELL.test(path))
  const bytes = shell.reduce((sum, { bytesIn }) => sum + bytesIn, 0)
  assert.ok(bytes > 0 && bytes <= SHELL_BYTES_MAX, shell.map(({ path, bytesIn }) => `${path} ${bytesIn}`).join('\n'))
})

test('the list of what left the device shows the digest of the page that the server sends', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t)
  const { launchUrl } = await host.create()
  await visit.open(launchUrl)
  await visit.screen(['welcome'])
  await visit.act('ledger')
  const shown = await visit.page.locator('dialog[data-dialog="ledger"] [data-digest]').innerText()
  const load = async (path: string) => Buffer.from(await (await fetch(new URL(path, launchUrl))).arrayBuffer())
  const sums = await load('sha256sums.txt')
  assert.equal(shown, sha256(sums))
  assert.equal(String(await load('digest.txt')).split(' ')[0], shown)
  const files = sums.toString().trimEnd().split('\n')
  assert.ok(files.some((line) => line.endsWith('  index.html')) && files.some((line) => line.endsWith('.onnx')))
  for (const line of files) {
    const [expected = '', path = ''] = line.split('  ')
    assert.equal(sha256(await load(path === 'index.html' ? './' : path)), expected, path)
  }
})

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
