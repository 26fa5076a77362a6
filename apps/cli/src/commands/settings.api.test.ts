import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createInstallation } from '../testing/installation.ts'

const { run } = await createInstallation('settings')
const cli = (...args: string[]) => run(args)
const folder = temporaryFolder('settings')
before(async () => {
  await cli('migrate')
  await cli('tenants', 'create', 'Fjord Rentals')
})
const settings = (...args: string[]) => cli('tenants', 'settings', 'Fjord Rentals', ...args)
const stored = async () => JSON.parse((await settings('--json')).out)

test('settings are shown with a mark at each default, and as JSON', async () => {
  const { code, out } = await settings()
  assert.equal(code, 0)
  assert.match(out, /^SETTING +VALUE\n/)
  assert.match(out, /\nretentionSeconds +86400 +default\n/)
  assert.match(out, /\ndefaultLocale +en +default\n/)
  assert.match(out, /\nissuers +\[\] +default\nbrand +null +default$/)
  assert.deepEqual(await stored(), TENANT_SETTINGS_DEFAULTS)
})

test('settings are changed by name, by file, and by name over a file; null goes back to the default', async () => {
  const file = join(folder, 'changes.json')
  writeFileSync(file, JSON.stringify({ retentionSeconds: 3_600, enforceBlock: true, risk: { highBlocks: true } }))
  const changed = await settings('--file', file, '--set', 'retentionSeconds=7200', '--set', 'defaultLocale=de')
  assert.equal(changed.code, 0)
  assert.match(changed.out, /\nretentionSeconds +7200\n/)
  assert.equal(changed.err, 'Changed; effective everywhere within 5 seconds')
  const expected = { retentionSeconds: 7_200, enforceBlock: true, risk: { highBlocks: true }, defaultLocale: 'de' }
  assert.deepEqual(await stored(), { ...TENANT_SETTINGS_DEFAULTS, ...expected })
  await settings('--set', 'retentionSeconds=null', '--set', 'redirectUrls=["https://fjord.example"]')
  assert.deepEqual(await stored(), {
    ...TENANT_SETTINGS_DEFAULTS,
    ...expected,
    retentionSeconds: 86_400,
    redirectUrls: ['https://fjord.example'],
  })
})

test('invalid settings are reported field by field, and nothing is changed', async () => {
  const before = await stored()
  const refused = await settings('--set', 'retentionSeconds=1', '--set', 'colour=red', '--set', 'alwaysReturnAge=true')
  assert.equal(refused.code, 2)
  assert.equal(
    refused.err.split('\n\n')[0],
    'The settings are not valid; nothing was changed:\n  /colour is not a known field\n  /retentionSeconds must be >= 3600',
  )
  const list = join(folder, 'list.json')
  writeFileSync(list, '[]')
  for (const [args, message] of [
    [['--set', 'enforceBlock'], '--set must be <name>=<value>'],
    [['--file', join(folder, 'absent.json')], '--file cannot be read'],
    [['--file', list], '--file must name a JSON object, as in { "retentionSeconds": 3600 }'],
  ] as const) {
    const { code, err } = await settings(...args)
    assert.deepEqual([code, err.split('\n')[0]], [2, message])
  }
  assert.match((await cli('tenants', 'settings', 'Nobody')).err, /There is no tenant "Nobody"/)
  assert.match((await cli('tenants', 'settings')).err, /Name the tenant/)
  assert.deepEqual(await stored(), before)
})

test('a brand is set with its logo from a file, and shown without the data of the picture', async () => {
  const logo = join(folder, 'logo.svg')
  writeFileSync(logo, '<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>')
  const without = await settings('--logo', logo)
  assert.deepEqual(
    [without.code, without.err.split('\n')[0]],
    [2, `--logo needs a brand: add --set 'brand={"name":"…"}'`],
  )
  const brand = { name: 'Fjord', primary: '#0b57d0' }
  const { code, out } = await settings('--set', `brand=${JSON.stringify(brand)}`, '--logo', logo)
  assert.equal(code, 0)
  const dataUrl = `data:image/svg+xml;base64,${readFileSync(logo).toString('base64')}`
  assert.deepEqual((await stored()).brand, { ...brand, background: null, logo: dataUrl })
  assert.match(out, /\nbrand +\{[^\n]*"data:image\/svg\+xml;base64 … \(\d+ letters\)"/)
  assert.ok(!out.includes(dataUrl))
  writeFileSync(logo, '<svg/>')
  await settings('--logo', logo)
  assert.deepEqual((await stored()).brand.logo, `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`)
})

test('a logo that is not a picture, too large or missing is refused, and so is a colour with too little contrast', async () => {
  const refusalOf = async (...args: string[]) => {
    const { code, err } = await settings(...args)
    assert.equal(code, 2)
    return err.split('\n\n')[0]
  }
  const large = join(folder, 'large.png')
  writeFileSync(large, Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(19_000)]))
  const nothingChanged = 'The settings are not valid; nothing was changed:\n  '
  assert.equal(
    await refusalOf('--logo', large),
    `${nothingChanged}/brand/logo must not have more than 24576 characters`,
  )
  assert.equal(await refusalOf('--logo', join(folder, 'changes.json')), '--logo must be a .png, .webp or .svg file')
  assert.equal(await refusalOf('--logo', join(folder, 'none.png')), '--logo cannot be read')
  assert.equal(
    await refusalOf('--set', 'brand={"name":"Fjord","primary":"#7a7a7a"}'),
    `${nothingChanged}/brand/primary leaves text a contrast of 4.29, and it needs 4.5: choose a lighter or a darker colour`,
  )
})
