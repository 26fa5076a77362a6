import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { scan, typeNumber } from '@ostiary/testkit/browser/qr-code'
import { hostOf } from '@ostiary/testkit/browser/system'
import { startVerificationHost, type VerificationHost } from '@ostiary/testkit/browser/verification-host'
import { visitOn } from '@ostiary/testkit/browser/visit'
import { newVisitorWithoutCamera } from '@ostiary/testkit/browser/visitors'
import { setting } from '@ostiary/testkit/setting'

let host: VerificationHost
before(async () => {
  host = await startVerificationHost()
})
after(() => host?.stop())

test('[X-002] the launch URLs of an age session and of every kind of verification open the page', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t, { form: 'phone' })
  const age = await hostOf('OSTIARY_TEST_KEY_ONE').create()
  await visit.open(age.launchUrl)
  await visit.screen(['welcome'])
  assert.equal(await visit.attribute('data-type'), null)
  const titles = [await visit.page.locator('h1').innerText()]
  for (const { type, ...person } of [
    { type: 'ENROLL' },
    { type: 'SIGN-IN' },
    { type: 'VERIFY', customerId: 'somebody' },
  ] as const) {
    const { launchUrl } = await host.create({ type, ...person })
    assert.equal(new URL(launchUrl).origin, new URL(age.launchUrl).origin)
    await visit.open(launchUrl)
    await visit.screen(['welcome'])
    await visit.attributeIs('data-type', type)
    titles.push(await visit.page.locator('h1').innerText())
  }
  assert.equal(new Set(titles).size, titles.length, 'each says what it is for')
  assert.deepEqual(visit.faults, [])
})

for (const { locale, shown, letters } of [
  { locale: 'de', shown: 'de ltr', letters: /[äöüß]/ },
  { locale: 'ar', shown: 'ar rtl', letters: /\p{Script=Arabic}{3}/u },
]) {
  test(`[D-016] an ENROLL session with locale ${locale} is shown in it, whatever the browser prefers`, async (t) => {
    const { visit } = await newVisitorWithoutCamera(t, { form: 'phone', context: { locale: 'en-GB' } })
    await visit.open((await host.create({ type: 'ENROLL', locale })).launchUrl)
    await visit.screen(['welcome'])
    await visit.page.locator(`html[lang="${shown.slice(0, 2)}"]`).waitFor()
    const html = visit.page.locator('html')
    assert.equal(`${await html.getAttribute('lang')} ${await html.getAttribute('dir')}`, shown)
    assert.match(await visit.page.locator('main').innerText(), letters)
  })
}

test('[D-018] a desktop runs a session only where that is allowed, which is not the default; a phone may go on', async (t) => {
  const { visit: desk } = await newVisitorWithoutCamera(t)
  const { visit: phone } = await newVisitorWithoutCamera(t, { form: 'phone' })
  await desk.open((await host.create({ type: 'SIGN-IN', enableDesktop: true })).launchUrl)
  await desk.screen(['welcome'])
  const created = await host.create({ type: 'SIGN-IN' })
  await desk.open(created.launchUrl)
  await phone.open(await scan(desk))
  await typeNumber(desk, phone)
  await phone.screen(['welcome'])
  await desk.screen(['viewer'])
  await phone.act('decline')
  await phone.saw(['declined'])
  const says = await host.webhookOf(created)
  assert.deepEqual([says.status, says.outcome, says.errorCodes], ['error', 'CANCELLED', [-18]])
})

test('in a frame a session with a passkey goes on in a window of its own, and the frame watches', async (t) => {
  const listed = setting('OSTIARY_EMBED_ORIGIN')
  const { page } = (await newVisitorWithoutCamera(t)).visit
  const { launchUrl, sessionId } = await hostOf('OSTIARY_TEST_KEY_EMBED').client.verification.create({
    type: 'SIGN-IN',
    requirements: ['face', 'passkey'],
    enableDesktop: true,
    redirectURL: 'https://shop.example/back',
    callback: { url: 'https://shop.example/hook' },
  })
  const body = `<!doctype html><title>A shop</title><iframe src="${launchUrl}" width="480" height="700"></iframe>`
  await page.route(`${listed}/shop`, (route) => route.fulfill({ contentType: 'text/html', body }))
  await page.goto(`${listed}/shop`)
  const frame = await (await page.waitForSelector('iframe')).contentFrame()
  assert.ok(frame)
  const inFrame = visitOn(page, frame)
  await inFrame.screen(['welcome'])
  assert.equal(await inFrame.action('consent').count(), 0)
  const opening = page.waitForEvent('popup')
  await inFrame.act('pop-out')
  const ownWindow = visitOn(await opening)
  await typeNumber(inFrame, ownWindow)
  await ownWindow.screen(['welcome'])
  await inFrame.screen(['viewer'])
  await ownWindow.act('decline')
  await inFrame.screen(['declined', 'cancelled'])
  const { state } = await hostOf('OSTIARY_TEST_KEY_EMBED').client.verification.get(sessionId)
  assert.equal(state, 'CANCELLED')
})
