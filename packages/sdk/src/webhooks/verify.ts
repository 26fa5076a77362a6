import { verifyWebhook as verify } from '@ostiary/crypto'
import { nowSeconds } from '../clock.ts'

export type ReceivedWebhook = Parameters<typeof verify>[0]

/**
 * Whether a webhook is genuine and fresh: its signature matches and its timestamp is at most 5 minutes from now. `body` is the
 * bytes as received, before any JSON parser. `receiveWebhook` does more: it gives a typed event, or the reason of a failure.
 */
export function verifyWebhook(received: ReceivedWebhook): Promise<boolean> {
  // Do not spread over defaults: an explicit `nowSeconds: undefined` would switch the check of the time off.
  return verify({ ...received, nowSeconds: received.nowSeconds ?? nowSeconds() })
}
