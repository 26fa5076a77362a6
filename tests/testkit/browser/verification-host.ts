import assert from 'node:assert/strict'
import { CONSENT_VERSION } from '@ostiary/contract'
import {
  type CreatedVerification,
  type CreateVerificationBody,
  type VerificationWebhook,
  verifyWebhook,
} from '@ostiary/sdk'
import type { Recorded } from './proxy.ts'
import { startShop } from './shop.ts'
import { type Host, hostOf } from './system.ts'
import type { Visit } from './visit.ts'

/** Movements that every puppet can make. */
export const TRANSACTION = 'test:challenge=turn_left,closer,turn_right order K7'

/** A customer with a site, whose users enrol and sign in. */
export interface VerificationHost extends Pick<Host, 'client' | 'advanceClock'> {
  backUrl: string
  create(body: Partial<CreateVerificationBody>): Promise<CreatedVerification>
  /** Waits for the webhook of this session and checks that it is signed and equals the read-back except for images. */
  webhookOf(created: CreatedVerification): Promise<VerificationWebhook>
  stop(): void
}

export async function startVerificationHost(): Promise<VerificationHost> {
  const { apiKey, client, advanceClock } = hostOf('OSTIARY_TEST_KEY_ONE')
  const shop = await startShop()
  return {
    client,
    advanceClock,
    backUrl: shop.backUrl,
    create: ({ type = 'ENROLL', ...body }) =>
      client.verification.create({
        type,
        redirectURL: shop.backUrl,
        callback: { url: shop.hookUrl, headers: { 'x-shop': 'K7' } },
        transactionID: TRANSACTION,
        ...body,
      }),
    async webhookOf({ sessionId }) {
      const { headers, body } = await shop.webhookWith(sessionId)
      const timestamp = String(headers['x-service-timestamp'])
      const signature = String(headers['x-service-signature'])
      assert.equal(await verifyWebhook({ apiKey, timestamp, signature, body }), true)
      assert.equal(headers['x-shop'], 'K7')
      const says: VerificationWebhook = JSON.parse(body.toString())
      const { images, ...lasting } = says
      assert.equal(says.sessionId, sessionId)
      assert.deepEqual(await client.verification.webhook(sessionId), images ? { ...lasting, images: [] } : lasting)
      return says
    },
    stop: shop.stop,
  }
}

/** The webhook without the facts about the browser, which are those of a test browser, and without the hash of its one-time code and the time of its consent. */
export function mainPartOf(webhook: VerificationWebhook) {
  const { riskEvaluation, indicators, captureConditions: _any, consent, codeHash, ...rest } = webhook
  assert.deepEqual([consent?.accepted, consent?.version], [true, CONSENT_VERSION.verification])
  assert.match(codeHash ?? '', /^[0-9a-f]{64}$/)
  assert.equal(riskEvaluation.signals.behavioral, null)
  assert.ok(riskEvaluation.signals.browser && indicators?.headless, 'the browser signals were evaluated')
  return rest
}

/** Opens the session and gives consent. */
export async function agree(visit: Visit, { launchUrl }: CreatedVerification): Promise<void> {
  await visit.open(launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
}

/** How JPEG, PNG, WebP and data URLs begin, as bytes and in base64. */
export const PICTURE = /\xff\xd8\xff|\x89PNG|RIFF....WEBP|data:image|\/9j\/4|iVBORw0KGgo|UklGR.{6}XRUJQ/s

/** Checks that no readable request contains a picture. */
export function checkNoPictures(requests: readonly Recorded[], bytesMax: number): void {
  for (const { method, path, contentType, body } of requests) {
    const what = `${method} ${path}`
    assert.ok(body.length <= bytesMax, `${what} sends ${body.length} bytes`)
    if (body.length > 0) assert.match(contentType ?? '', /^application\/json\b/, what)
    assert.doesNotMatch(body.toString('latin1'), PICTURE, what)
  }
}
