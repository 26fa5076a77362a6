/**
 * What a receiver of webhooks needs at run time. The SDK imports this file by itself (`@ostiary/contract/webhook-wire`), so it must not
 * import the validator.
 */

/** A key set changes when a key is rotated or retired. Hosts may use it for so long before they ask again. */
export const WEBHOOK_KEY_SET_SECONDS = 300
