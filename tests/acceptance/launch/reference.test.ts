import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBrowser } from '@ostiary/testkit/browser/browser'
import { setting } from '@ostiary/testkit/setting'

/** Runs in the page. Keeps what the policy refused. */
const KEEP_VIOLATIONS = `
  globalThis.violations = []
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    violations.push([violatedDirective, blockedURI, sample.split('|')[0]].join(' ')))
`
/** A library asks whether it may make functions from text, and does without. */
const PROBE = 'require-trusted-types-for trusted-types-sink Function'

test('the reference page works under its policy, on the admin port alone', async (t) => {
  const browser = await startBrowser()
  t.after(() => browser.stop())
  const device = await browser.device()
  t.after(() => device.close())
  const page = await device.page()
  await page.addInitScript(KEEP_VIOLATIONS)
  await page.goto(`${setting('OSTIARY_ADMIN_URL')}/reference`)
  await page.getByRole('heading', { name: 'Ostiary' }).waitFor()
  await page.getByRole('link', { name: /Create a string/ }).click()
  await page.getByRole('heading', { name: 'Create a string' }).waitFor()
  assert.deepEqual(await page.evaluate('[...new Set(violations)]'), [PROBE])
  assert.equal(await page.getByRole('button', { name: /Test Request/ }).count(), 0)
  assert.equal(await page.locator('input:not([type=checkbox])').count(), 0, 'there is no field for a key')
  await page.getByText('Device: what the launch page calls').first().waitFor()
  const allowed = await page.evaluate('document.featurePolicy.allowedFeatures()')
  for (const feature of ['camera', 'publickey-credentials-create', 'publickey-credentials-get'])
    assert.ok(Array.isArray(allowed) && !allowed.includes(feature), feature)
  const asked = new Set(device.proxy.requests.map(({ path }) => path.split('?')[0]))
  assert.deepEqual([...asked].sort(), ['/openapi.json', '/reference', '/reference/scalar.js', '/reference/start.js'])
  const onPublicOrigin = await fetch(`${setting('OSTIARY_URL')}/reference`)
  assert.equal(onPublicOrigin.status, 404)
})
