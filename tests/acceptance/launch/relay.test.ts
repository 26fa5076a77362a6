import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { codeMatches, type VerificationWebhook } from '@ostiary/sdk'
import { type BindingHost, startBindingHost } from '@ostiary/testkit/binding-host'
import { type Authenticator, plugIn } from '@ostiary/testkit/browser/authenticator'
import { sendFramingPage } from '@ostiary/testkit/browser/framing-host'
import { scan, typeWrongNumber } from '@ostiary/testkit/browser/qr-code'
import { eventually } from '@ostiary/testkit/browser/system'
import { TRANSACTION } from '@ostiary/testkit/browser/verification-host'
import { showFace, type Visit, visitOn } from '@ostiary/testkit/browser/visit'
import {
  newVisitor,
  newVisitorWithoutCamera,
  prepareCameraBrowser,
  type Visitor,
  WHOLE_FLOW,
} from '@ostiary/testkit/browser/visitors'
import { setting } from '@ostiary/testkit/setting'
import type { Page } from 'playwright-core'

/**
 * Relays in real browsers: an attacker starts a sign-in at the host and has a victim complete it on the genuine page. The host is the one of
 * docs/api/verification.md. `npm run drill -- relay` does the same many times without a browser.
 */

prepareCameraBrowser()
/** The host's name for this machine is on the customer's list. Under the other name the same pages are the attacker's. */
const LISTED = setting('OSTIARY_BINDING_ORIGIN')
const EVIL = LISTED.replace('127.0.0.1', 'localhost')
const WITH_PASSKEY = { passkey: '', transaction: TRANSACTION }
/** The sandbox ends the session as soon as a page opens it. Screens, code and way back are the real ones; no face is needed. */
const ENDS_AT_ONCE = { transaction: 'test:success order K7' }
/** Four of them with a face check. */
const ALL_FLOWS = { timeout: 4 * WHOLE_FLOW.timeout }

let host: BindingHost

test(
  '[merge] relay: a browser that starts a sign-in which somebody else completes is not let in',
  ALL_FLOWS,
  async (t) => {
    host = await startBindingHost({
      ...{
        baseUrl: setting('OSTIARY_URL'),
        key: setting('OSTIARY_TEST_KEY_EMBED'),
        port: Number(new URL(LISTED).port),
      },
      // The service rightly advises against a headless browser with a played camera. A host that heeded that would let nobody in here, and
      // its refusals would prove nothing about the return.
      accepts: ['ALLOW', 'REVIEW', 'BLOCK'],
      more: sendPages,
    })
    t.after(() => host.close())
    const visitor = await newVisitor(t)
    const victim: Person = { ...visitor, authenticator: await plugIn(visitor.visit.page), puid: '' }
    t.after(() => host.client.node.deleteUser(victim.puid))
    await t.test('relay: the victim has enrolled with a face and a passkey', WHOLE_FLOW, async () => {
      victim.puid = await enrol(victim)
    })
    const attack = (name: string, run: (t: TestContext, victim: Person) => Promise<void>) =>
      t.test(`relay: ${name}`, WHOLE_FLOW, async (t) => {
        assert.ok(victim.puid, 'nobody has enrolled')
        await run(t, victim)
      })
    await attack('same device: the victim opens the link, with face and passkey', overLink)
    await attack('QR code: the victim types a number that is not on the attacker’s screen', overQrCode)
    await attack('[full] popup: the attacker’s page opens the genuine one, with face and passkey', overPopup)
    await attack('frame: of the attacker’s page, and of the host’s own page', overFrame)
    await attack('reload by another key: the attacker opens the link before, during and after', overReload)
    await attack('back button: the victim returns to the page that has ended', overBackButton)
    await attack('nobody attacks: the same person in the same browser is let in, once', honestly)
  },
)

/** The pages of shops: the host’s own one, and the attacker’s. */
function sendPages(...[request, reply]: Parameters<typeof sendFramingPage>): boolean {
  const isPage = /^\/(shop|sdk\/)/.test(request.url ?? '')
  if (isPage) sendFramingPage(request, reply)
  return isPage
}

interface Person extends Visitor {
  authenticator: Authenticator
  puid: string
}

async function enrol({ visit, camera }: Person): Promise<string> {
  const { launchUrl, sessionId } = await host.client.verification.create({
    type: 'ENROLL',
    redirectURL: `${LISTED}/shop`,
    callback: { url: `${LISTED}/hook` },
    requirements: ['face', 'passkey'],
    enableDesktop: true,
    transactionID: TRANSACTION,
  })
  await visit.open(launchUrl)
  await complete(visit, camera)
  await visit.page.waitForURL(`${LISTED}/shop?**`)
  return (await succeeded(sessionId)).puid ?? ''
}

async function overLink(t: TestContext, victim: Person): Promise<void> {
  const attacker = await newVisitorWithoutCamera(t)
  const relayed = await begin(attacker.visit, WITH_PASSKEY)
  await victim.visit.open(relayed.launchUrl)
  await complete(victim.visit, victim.camera)
  await landsInVain(victim.visit, relayed)
  assert.equal((await succeeded(relayed.sessionId)).puid, victim.puid)
  await comesInVain(attacker, relayed)
}

async function overQrCode(t: TestContext, victim: Person): Promise<void> {
  const attacker = await newVisitorWithoutCamera(t)
  const relayed = await begin(attacker.visit, { ...WITH_PASSKEY, 'desktop-waits': '' })
  await attacker.visit.open(relayed.launchUrl)
  const sent = await scan(attacker.visit)
  const { visit: phone } = await newVisitorWithoutCamera(t, { form: 'phone' })
  const passkeys = await plugIn(phone.page)
  await passkeys.holdOnly(await victim.authenticator.credentials())
  await phone.open(sent)
  await typeWrongNumber(attacker.visit, phone)
  await phone.screen(['problem'])
  assert.equal(await phone.attribute('data-problem'), 'number_wrong')
  await attacker.visit.attributeIs('data-status', 'number_wrong')
  const { visit: again } = await newVisitorWithoutCamera(t, { form: 'phone' })
  await again.open(sent)
  await again.screen(['problem'])
  assert.equal(await again.attribute('data-problem'), 'code_refused')
  await comesInVain(attacker, relayed, { screen: 'handoff', why: 'no_webhook' })
}

async function overPopup(t: TestContext, victim: Person): Promise<void> {
  const attacker = await newVisitorWithoutCamera(t)
  const relayed = await begin(attacker.visit, WITH_PASSKEY)
  const page = await victim.device.page()
  t.after(() => page.close())
  const heard = await openShop(page, EVIL, { launchUrl: relayed.launchUrl, as: 'popup' })
  const opening = page.waitForEvent('popup')
  await page.evaluate('globalThis.begin()')
  const popup = await opening
  const passkeys = await plugIn(popup)
  await passkeys.holdOnly(await victim.authenticator.credentials())
  const visit = visitOn(popup)
  await complete(visit, victim.camera)
  await visit.action('close-page').waitFor()
  // A passkey counts its uses, and one that falls behind is refused as a copy.
  await victim.authenticator.holdOnly(await passkeys.credentials())
  assert.equal((await succeeded(relayed.sessionId)).puid, victim.puid)
  assert.ok(codesIn(victim).length > 0, 'the victim’s page has the code')
  await visit.actLast('close-page')
  assert.deepEqual(await heard(), [], 'the attacker’s page hears nothing')
  await comesInVain(attacker, relayed)
}

async function overFrame(t: TestContext): Promise<void> {
  const attacker = await newVisitorWithoutCamera(t)
  const relayed = await begin(attacker.visit, ENDS_AT_ONCE)
  const { visit } = await newVisitorWithoutCamera(t)
  const { page } = visit
  const heard = await openShop(page, EVIL, { launchUrl: relayed.launchUrl, as: 'iframe' })
  const refusals: string[] = []
  page.on('console', (message) => refusals.push(message.text()))
  await page.evaluate('globalThis.begin()')
  await eventually('the browser refuses', () => refusals.find((text) => text.includes('frame-ancestors')))
  assert.deepEqual(await heard(), [])

  // A careless host frames whatever its address says, and this user has begun a sign-in of their own there.
  await begin(visit, WITH_PASSKEY)
  const heardByHost = await openShop(page, LISTED, { launchUrl: relayed.launchUrl, as: 'iframe' })
  await page.evaluate('globalThis.begin()')
  const finished = await eventually('the host’s page gets the message', async () =>
    (await heardByHost()).find(({ event }) => event === 'finished'),
  )
  const { codeHash } = await succeeded(relayed.sessionId)
  assert.ok(await codeMatches(finished.code, codeHash), 'with the code')
  await page.goto(finished.redirectUrl ?? '')
  assert.deepEqual(await answerOn(page), { why: 'other_browser' })
  await comesInVain(attacker, relayed)
}

async function overReload(t: TestContext): Promise<void> {
  const attacker = await newVisitorWithoutCamera(t)
  const relayed = await begin(attacker.visit, WITH_PASSKEY)
  const { visit } = await newVisitorWithoutCamera(t)
  await visit.open(relayed.launchUrl)
  await visit.screen(['welcome'])
  await attacker.visit.open(relayed.launchUrl)
  await attacker.visit.screen(['problem'])
  assert.equal(await attacker.visit.attribute('data-problem'), 'other_device')
  // The sandbox lets the session succeed in place of the victim's face and passkey. Code and redirect are the real ones.
  await succeedNow(relayed.sessionId)
  await attacker.visit.page.reload()
  await attacker.visit.screen(['done'])
  // The victim's page has the key of the session, also when it is loaded again, and gets the code.
  await visit.page.reload()
  await landsInVain(visit, relayed)
  await comesInVain(attacker, relayed)
}

async function overBackButton(t: TestContext): Promise<void> {
  const attacker = await newVisitorWithoutCamera(t)
  const relayed = await begin(attacker.visit, ENDS_AT_ONCE)
  const { visit, device } = await newVisitorWithoutCamera(t)
  await visit.open(relayed.launchUrl)
  await landsInVain(visit, relayed)
  const known = codesIn({ device }).length
  // The page that was left has no place in the history. Opened again by its link, it has forgotten its key.
  await visit.page.goBack()
  assert.ok(!visit.page.url().startsWith(relayed.launchUrl), visit.page.url())
  await visit.open(relayed.launchUrl)
  await visit.screen(['done'])
  await visit.action('close-page').waitFor()
  assert.equal(codesIn({ device }).length, known, 'the page that was left has forgotten its key')
  await comesInVain(attacker, relayed)
  await attacker.visit.page.goBack()
  await comesInVain(attacker, relayed)
}

async function honestly(_: TestContext, { visit, camera, device, puid }: Person): Promise<void> {
  const own = await begin(visit, WITH_PASSKEY)
  await visit.open(own.launchUrl)
  await complete(visit, camera)
  const answer = await landsAtHost(visit)
  assert.equal(answer.puid, puid, `refused: ${answer.why}`)
  assert.ok(codesIn({ device }).includes(codeAt(visit.page) ?? ''), 'a code that a page gets is found')
  await visit.page.reload()
  assert.deepEqual(await answerOn(visit.page), { why: 'no_session' })
}

interface Relayed {
  launchUrl: string
  sessionId: string
  state: string
}

/** A browser asks the host for a sign-in, gets the cookie, and does not open the link. */
async function begin({ page }: Visit, query: Record<string, string>): Promise<Relayed> {
  await page.goto(`${LISTED}/start?${new URLSearchParams(query)}`)
  const created = JSON.parse(await page.locator('pre').innerText())
  const cookie = (await page.context().cookies(LISTED)).find(({ name }) => name === 'state')
  assert.ok(cookie?.httpOnly, 'the state is in a cookie')
  return { ...created, state: cookie.value }
}

/** Face and passkey, to the end. */
async function complete(visit: Visit, camera: Visitor['camera']): Promise<void> {
  await visit.screen(['welcome'])
  await visit.act('consent')
  assert.equal((await showFace(visit, camera)).next, 'passkey')
  const since = visit.screens.length
  await visit.act('passkey')
  await visit.saw(['done'], since)
}

/** But for the return the host would let this user in. */
async function succeeded(sessionId: string): Promise<VerificationWebhook> {
  const webhook = await host.webhookOf(sessionId)
  assert.equal(webhook.status, 'SUCCESS', JSON.stringify(webhook.errors))
  return webhook
}

/** The genuine page sends the victim's browser to the host, with the code. The host does not know that browser. */
async function landsInVain(visit: Visit, { sessionId }: Relayed): Promise<void> {
  assert.deepEqual(await landsAtHost(visit), { why: 'no_session' })
  const { codeHash } = await succeeded(sessionId)
  assert.ok(await codeMatches(codeAt(visit.page), codeHash))
}

async function landsAtHost({ page }: Visit): Promise<HostAnswer> {
  await page.waitForURL(`${LISTED}/back?**`)
  return answerOn(page)
}

/**
 * The attacker opens the link once more and comes to the host: with the own cookie and everything that a redirect has, and as the code
 * with each one that this browser has ever received, with none, and with another value.
 */
async function comesInVain(
  { visit, device }: Pick<Visitor, 'visit' | 'device'>,
  { launchUrl, sessionId, state }: Relayed,
  { screen = 'done', why = 'wrong_code' } = {},
): Promise<void> {
  await visit.open(launchUrl)
  await visit.screen([screen])
  for (const code of new Set([...codesIn({ device }), '', sessionId])) {
    const query = new URLSearchParams({ state, sessionId, status: 'SUCCESS', ...(code !== '' && { code }) })
    await visit.page.goto(`${LISTED}/back?${query}`)
    assert.deepEqual(await answerOn(visit.page), { why }, `with the code "${code}"`)
  }
}

/** Every value in the service's answers to this browser that could be a code. */
function codesIn({ device }: Pick<Visitor, 'device'>): string[] {
  const answers = device.proxy.requests.map(({ answer }) => answer).join('\n')
  return Array.from(
    answers.matchAll(/"code":"([^"]+)"|[?&]code=([\w-]+)/g),
    ([, field, parameter]) => field ?? parameter ?? '',
  )
}

const codeAt = (page: Page) => new URL(page.url()).searchParams.get('code')

interface HostAnswer {
  puid?: string
  why?: string
}

/** What the host has answered to the browser that came back. */
async function answerOn(page: Page): Promise<HostAnswer> {
  return JSON.parse(await page.locator('pre').innerText())
}

/** Opens a shop's page, which can open the launch page. Returns a function that reads every message that the page has heard. */
async function openShop(page: Page, origin: string, query: { launchUrl: string; as: string }) {
  await page.goto(`${origin}/shop?${new URLSearchParams(query)}`)
  await page.evaluate(`globalThis.heard = []; addEventListener('message', ({ data }) => heard.push(data))`)
  return (): Promise<{ event?: string; code?: string; redirectUrl?: string }[]> => page.evaluate('globalThis.heard')
}

async function succeedNow(sessionId: string): Promise<void> {
  const response = await fetch(`${setting('OSTIARY_URL')}/test/sessions/${sessionId}/outcome`, {
    method: 'POST',
    headers: { 'x-api-key': setting('OSTIARY_TEST_KEY_EMBED'), 'content-type': 'application/json' },
    body: JSON.stringify({ outcome: 'success' }),
  })
  assert.ok(response.ok, await response.text())
}
