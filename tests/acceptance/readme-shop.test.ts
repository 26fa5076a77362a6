/** The shop of the SDK's README, as it stands there, with `ostiary simulate` as its customers. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { freePorts } from '@ostiary/testkit/ports'
import { ROOT } from '@ostiary/testkit/root'
import { setting } from '@ostiary/testkit/setting'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'

const README = `${ROOT}packages/sdk/README.md`
const FENCE = '```'
const [port] = await freePorts(1)
const shop = `http://127.0.0.1:${port}`
const env = { OSTIARY_URL: setting('OSTIARY_URL'), OSTIARY_API_KEY: setting('OSTIARY_TEST_KEY_ONE') }

function shopOfReadme(): string {
  const blocks = readFileSync(README, 'utf8').split(FENCE)
  const block = blocks.find((text) => text.includes('createBrowserBinding({'))
  assert.ok(block)
  const code = block.slice(block.indexOf('\n'))
  return code.replaceAll('http://127.0.0.1:3000', shop).replace('listen(3000,', `listen(${port},`)
}

const folder = temporaryFolder('readme-shop')
mkdirSync(join(folder, 'node_modules/@ostiary'), { recursive: true })
symlinkSync(join(ROOT, 'packages/sdk'), join(folder, 'node_modules/@ostiary/sdk'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
writeFileSync(join(folder, 'shop.ts'), shopOfReadme())
const server = await openShop('shop.ts', shop, env)
after(() => server.kill())

async function openShop(file: string, url: string, own: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [file], { cwd: folder, env: { ...process.env, ...own }, stdio: 'inherit' })
  await eventually(() =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  return child
}

/** A browser that follows no redirect by itself. */
function newBrowser() {
  const cookies = new Map<string, string>()
  return async (address: string) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(address, shop), { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    return { status: response.status, text: await response.text(), location: response.headers.get('location') ?? '' }
  }
}
type Browser = ReturnType<typeof newBrowser>

/** Where the browser is sent at the end. */
function simulate(launchUrl: string, ...args: string[]): Promise<string> {
  const command = [`${ROOT}apps/cli/src/main.ts`, 'simulate', '--launch-url', launchUrl, ...args]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, { env: { ...process.env, ...env } }, (_error, out, err) => {
      const found = new RegExp(`${shop}/\\S+`).exec(out)?.[0]
      return found ? resolve(found) : reject(new Error(out + err))
    })
  })
}

/** Asks again while the webhook is on its way. */
const answerOf = (browser: Browser, address: string) =>
  eventually(async () => {
    const answer = await browser(address)
    return answer.status !== 202 && answer
  })

for (const [what, args, expected] of [
  ['18, by a passport, is sold to', ['--age', '18.5', '--document'], 'Sold.'],
  ['34, by the face, is sold to', ['--age', '34'], 'Sold.'],
  ['17, by a passport, is refused', ['--age', '17', '--document'], 'Not sold.'],
  ['cancels, and is refused', ['--cancel'], 'Not sold.'],
] as const) {
  test(`[P1] [P9] somebody who is ${what}, and reads the same after a reload`, async () => {
    const browser = newBrowser()
    const back = await simulate((await browser('/buy')).location, ...args)
    for (const _time of ['loaded', 'again']) assert.equal((await answerOf(browser, back)).text, expected)
    assert.equal((await newBrowser()(back)).text, 'Not sold.', 'a link that is passed on buys nothing')
  })
}

test('[P11] while the service is down the shop sells nothing, and says so', async () => {
  const [own = 0, nobody = 0] = await freePorts(2)
  const alone = `http://127.0.0.1:${own}`
  const code = shopOfReadme().replaceAll(shop, alone).replace(`listen(${port},`, `listen(${own},`)
  writeFileSync(join(folder, 'alone.ts'), code)
  const child = await openShop('alone.ts', alone, { ...env, OSTIARY_URL: `http://127.0.0.1:${nobody}` })
  try {
    const answer = await fetch(`${alone}/buy`, { redirect: 'manual' })
    assert.equal(answer.status, 503)
    assert.match(await answer.text(), /Nothing was sold; please try again later/)
  } finally {
    child.kill()
  }
})

test('[P9] who has enrolled and signs in is welcome after a reload too, and nobody else', async () => {
  const enrolling = newBrowser()
  const face = ['--face', String(Date.now() % 1_000_000)]
  const enrolled = await simulate((await enrolling('/enrol')).location, ...face)
  assert.equal((await answerOf(enrolling, enrolled)).location, '/account')
  const browser = newBrowser()
  const back = await simulate((await browser('/sign-in')).location, ...face)
  for (const _time of ['loaded', 'again']) {
    assert.deepEqual((({ status, location }) => [status, location])(await answerOf(browser, back)), [303, '/account'])
    assert.equal((await browser('/account')).text, 'Welcome, customer-17.')
  }
  const other = newBrowser()
  assert.equal((await other((await other(back)).location)).status, 403)
})
