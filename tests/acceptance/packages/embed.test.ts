/** The browser's entry of the SDK in Chromium: the file of the package as it is, without a bundler. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { startBrowser } from '@ostiary/testkit/browser/browser'
import { freePorts } from '@ostiary/testkit/ports'
import { makePackages, newProject, SDK } from './project.ts'

before(makePackages)

const PAGE = `<!doctype html>
<title>shop</title>
<div id="check"></div>
<script type="module">
  import { openLaunch } from '/embed.js'
  const launchUrl = location.origin + '/launch/?sessionId=x'
  window.opened = openLaunch({ launchUrl, as: 'iframe', container: document.querySelector('#check'), title: 'Age check' })
</script>
`

async function startShop(t: TestContext, script: string): Promise<string> {
  const [port = 0] = await freePorts(1)
  const server = createServer(({ url = '' }, response) => {
    if (url === '/embed.js') response.setHeader('content-type', 'text/javascript').end(script)
    else
      response.setHeader('content-type', 'text/html').end(url.startsWith('/launch/') ? '<title>launch</title>' : PAGE)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${port}/`
}

test('loads as a module without an error, opens the frame and closes it', async (t) => {
  const { folder } = newProject(t, 'module', SDK)
  const url = await startShop(t, readFileSync(join(folder, 'node_modules/@ostiary/sdk/esm/embed.js'), 'utf8'))
  const { browser, stop } = await startBrowser()
  t.after(stop)
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) problems.push(message.text())
  })
  await page.goto(url)
  const frame = page.locator('#check iframe')
  await frame.waitFor()
  assert.equal(await frame.getAttribute('title'), 'Age check')
  assert.match((await frame.getAttribute('src')) ?? '', /\/launch\/\?sessionId=x/)
  await page.evaluate('window.opened.close()')
  await frame.waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
})
