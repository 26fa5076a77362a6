import {
  ConfirmationReply,
  type ErasureBody,
  ErasureReply,
  type EvaluationHeader,
  encodeFrame,
  KEY_HOLDER_PATHS,
  KeyHolderKey,
  NonceReply,
  type TokenVerdict,
  VerdictReply,
} from '@ostiary/contract'
import {
  BODY_HASH_HEADER,
  bodyHash,
  importServiceKey,
  readServiceKey,
  SERVICE_SIGNATURE_HEADER,
  signServiceRequest,
  verifyServiceReply,
} from '@ostiary/crypto'
import type Type from 'typebox'
import { Check } from 'typebox/value'
import { AppError } from '../platform/errors.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { Platform } from '../platform/platform.ts'

export interface KeyHolderConfig {
  /** Without a slash at the end. */
  url: string
  /** The public key that signs its replies, base64url. */
  serviceKey: string
  /** The seed of our own key, 32 bytes. */
  clientKey: Uint8Array
}

interface Deps extends Pick<Platform, 'clock' | 'ids' | 'log'> {
  /** Null: this installation has no key holder. */
  config: KeyHolderConfig | null
  outbound: Outbound
}

const TIMEOUT_MS = 10_000
const REPLY_BYTES = 16 * 1024
const RETRY_SECONDS = 5
/** The key holder's own keys change when its operator changes them. */
const KEY_FRESH_MS = 60_000

/** The key holder cannot be asked: nobody is recognised meanwhile. */
export function keyHolderAway(cause?: unknown): AppError {
  const message = 'The key holder is out of reach'
  return new AppError('unavailable', 'KEY_HOLDER_UNAVAILABLE', message, { retryAfterSeconds: RETRY_SECONDS, cause })
}

const readKeys = async ({ clientKey, serviceKey }: KeyHolderConfig) => ({
  own: (await readServiceKey(clientKey)).privateKey,
  theirs: await importServiceKey(serviceKey),
})

/** Calls to the key holder. Each is signed and has an id of its own; a reply that the key holder has not signed for this call is refused. */
export function createKeyHolderClient({ config, outbound, clock, ids, log }: Deps) {
  let known: { key: KeyHolderKey; untilMs: number } | undefined

  let keys: ReturnType<typeof readKeys> | undefined

  async function exchange(path: string, body: Uint8Array | undefined, type: string): Promise<unknown> {
    if (!config) throw new Error('This installation has no key holder')
    keys ??= readKeys(config)
    const { own, theirs } = await keys
    const requestId = Buffer.from(ids.randomBytes(16)).toString('base64url')
    const method = body ? 'POST' : 'GET'
    const request = { method, path, body: body ?? new Uint8Array() }
    const timeMs = clock.now().getTime()
    const signature = await signServiceRequest(own, request, { requestId, timeMs })
    const answer = await outbound.request({
      method,
      url: `${config.url}${path}`,
      ...(body && { body }),
      headers: {
        'content-type': type,
        [SERVICE_SIGNATURE_HEADER]: signature,
        [BODY_HASH_HEADER]: await bodyHash(request.body),
      },
      timeoutMs: TIMEOUT_MS,
      maxBytes: REPLY_BYTES,
    })
    const reply = await readAll(answer.body)
    const signed = { requestId, status: answer.status, body: reply }
    if (!(await verifyServiceReply(theirs, answer.headers[SERVICE_SIGNATURE_HEADER] ?? '', signed)))
      throw new Error('The reply is not signed by the key holder')
    if (answer.status !== 200) throw new Error(`The key holder answered ${answer.status}`)
    return JSON.parse(reply.toString())
  }

  async function call<S extends Type.TSchema>(
    path: string,
    schema: S,
    body?: Uint8Array,
    type = 'application/json',
  ): Promise<Type.Static<S>> {
    try {
      const reply = await exchange(path, body, type)
      if (!Check(schema, reply)) throw new Error('The reply of the key holder has another form')
      return reply
    } catch (error) {
      log.warn({ err: error, path }, 'the key holder cannot be asked')
      throw keyHolderAway(error)
    }
  }

  const json = (value: object) => Buffer.from(JSON.stringify(value))

  async function judged(
    path: string,
    header: EvaluationHeader,
    { token, probe, evaluation }: { token: Uint8Array; probe: Uint8Array; evaluation: Uint8Array },
  ): Promise<TokenVerdict> {
    const frame = encodeFrame(header, [token, probe, evaluation])
    return (await call(path, VerdictReply, frame, 'application/octet-stream')).verdict
  }

  return {
    /** The public half of our own key, which the key holder must know; null without a key holder. */
    ownPublicKey: async (): Promise<string | null> => config && (await readServiceKey(config.clientKey)).publicKey,

    /** The key that devices seal their messages with. */
    async key(): Promise<KeyHolderKey> {
      const nowMs = clock.monotonicMs()
      if (known && nowMs < known.untilMs) return known.key
      const key = await call(KEY_HOLDER_PATHS.key, KeyHolderKey)
      known = { key, untilMs: nowMs + KEY_FRESH_MS }
      return key
    },

    async nonce(realm: string, tokenId: string): Promise<string> {
      return (await call(KEY_HOLDER_PATHS.nonces, NonceReply, json({ realm, tokenId }))).nonce
    },

    enrol: (header: EvaluationHeader, parts: Parameters<typeof judged>[2]): Promise<TokenVerdict> =>
      judged(KEY_HOLDER_PATHS.enrolments, header, parts),

    evaluate: (header: EvaluationHeader, parts: Parameters<typeof judged>[2]): Promise<TokenVerdict> =>
      judged(KEY_HOLDER_PATHS.evaluations, header, parts),

    /** Whether the key holder has the share of the token. From now on it keeps it. */
    async confirm(realm: string, tokenId: string): Promise<boolean> {
      return (await call(KEY_HOLDER_PATHS.confirmations, ConfirmationReply, json({ realm, tokenId }))).isKnown
    },

    erase: (body: ErasureBody) => call(KEY_HOLDER_PATHS.erasures, ErasureReply, json(body)),
  }
}
async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

export type KeyHolderClient = ReturnType<typeof createKeyHolderClient>
