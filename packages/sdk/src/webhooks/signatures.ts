import type { WebhookKeySet } from '@ostiary/contract'
import { apiKeyHint, parseApiKey, signStandardWebhook, standardWebhookSecret, verifyWebhookV1a } from '@ostiary/crypto'
import { fixedKeys, type WebhookKeySource } from '../webhook-keys.ts'
import type { SignedParts } from './message.ts'
import { WebhookError, type WebhookReason } from './reasons.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Checks the HMAC (`v1`) by API keys. It covers the id of the delivery too, which `X-Service-Signature` does not. */
export async function checkByApiKeys(
  parts: SignedParts,
  body: Bytes,
  { apiKeys, hints }: { apiKeys: readonly string[]; hints: string | undefined },
): Promise<void> {
  if (await isSignedBy(apiKeys, parts, body)) return
  if (await isRewritten(body, (compact) => isSignedBy(apiKeys, parts, compact))) throw new WebhookError('body_parsed')
  const reason = reasonOf(apiKeys, hints)
  throw new WebhookError(reason, hints === undefined ? undefined : `signed by ${shown(hints)}`)
}

/** Checks the signature of the tenant's key pair (`v1a`), whatever API keys have signed. */
export async function checkByKeyPair(
  parts: SignedParts,
  body: Bytes,
  publicKeys: WebhookKeySet | WebhookKeySource,
): Promise<void> {
  if (!parts.signature.includes('v1a,')) throw new WebhookError('no_key_pair_signature')
  const source = 'keys' in publicKeys ? fixedKeys(publicKeys) : publicKeys
  let keys = await source.current()
  if (await verifyWebhookV1a({ ...parts, body, keys })) return
  const newer = await source.again()
  if (newer && (await verifyWebhookV1a({ ...parts, body, keys: newer }))) return
  keys = newer ?? keys
  const isGenuine = (compact: Bytes) => verifyWebhookV1a({ ...parts, body: compact, keys })
  throw new WebhookError((await isRewritten(body, isGenuine)) ? 'body_parsed' : 'key_pair_wrong')
}

/** Each signature of the header is compared with one of each key, in constant time. */
async function isSignedBy(apiKeys: readonly string[], parts: SignedParts, body: Bytes): Promise<boolean> {
  const given = parts.signature.split(' ').slice(0, SIGNATURES_MAX)
  let isFound = false
  for (const apiKey of apiKeys) {
    const expected = await signStandardWebhook(await secretOf(apiKey), { ...parts, body })
    for (const one of given) isFound = isEqual(expected, one) || isFound
  }
  return isFound
}
/** A rotation has two. A sender must not be able to ask for thousands of comparisons. */
const SIGNATURES_MAX = 8

const secrets = new Map<string, Promise<string>>()
/** Derived once for each key: a receiver has few of them. */
function secretOf(apiKey: string): Promise<string> {
  const known = secrets.get(apiKey)
  if (known) return known
  if (secrets.size >= SECRETS_MAX) secrets.clear()
  const secret = standardWebhookSecret(apiKey)
  secrets.set(apiKey, secret)
  return secret
}
const SECRETS_MAX = 1_000

function isEqual(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at)
  return difference === 0
}

/** Whether the body is the signed one written in another way: parsed, and printed with other spaces or escapes. */
async function isRewritten(body: Bytes, isGenuine: (compact: Bytes) => Promise<boolean>): Promise<boolean> {
  try {
    const compact = JSON.stringify(JSON.parse(new TextDecoder().decode(body)))
    return await isGenuine(new TextEncoder().encode(compact))
  } catch {
    return false
  }
}

/** What the hint says about a signature that matches no key. */
function reasonOf(apiKeys: readonly string[], hints: string | undefined): WebhookReason {
  const signers = (hints ?? '').split(' ').flatMap((text) => HINT.exec(text)?.slice(0, 2) ?? [])
  const [hint, start] = signers
  if (hint === undefined || start === undefined) return 'signature_wrong'
  const own = apiKeys.map(apiKeyHint)
  if (signers.some((signer) => own.includes(signer))) return 'body_changed'
  const isLive = start.startsWith('ost_live_')
  if (!apiKeys.some((key) => parseApiKey(key)?.livemode === isLive)) return 'other_mode'
  return own.some((one) => one.startsWith(start)) ? 'key_not_listed' : 'wrong_key'
}

/** Mode and bucket of the tenant, and the last four characters: `ost_test_7k...9f2c`. */
const HINT = /^(ost_(?:live|test)_[0-9a-z]{2})\.{3}[0-9a-z]{4}$/
const shown = (hints: string) => hints.replace(/[^\w. ]/g, '?').slice(0, 100)
