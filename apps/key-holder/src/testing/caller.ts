/** Calls a key holder as the server does: signed requests, verified replies. Only tests and measures import this. */
import { randomBytes } from 'node:crypto'
import { KEY_HOLDER_PATHS, type KeyHolderKey, type TokenVerdict } from '@ostiary/contract'
import {
  BODY_HASH_HEADER,
  bodyHash,
  importServiceKey,
  readServiceKey,
  SERVICE_SIGNATURE_HEADER,
  signServiceRequest,
  verifyServiceReply,
} from '@ostiary/crypto'
import {
  type Changes,
  comparisonFrame,
  type EvaluatedProbe,
  enrolmentFrame,
  evaluateFace,
  newId,
  type Subject,
} from './device.ts'

export interface RawRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: Uint8Array
}

export interface RawReply {
  status: number
  body: Uint8Array
  signature: string | undefined
}

/** How a request gets to the service: over HTTP, or into an app without a port. */
export type Send = (request: RawRequest) => Promise<RawReply>

export const sendTo =
  (url: string): Send =>
  async ({ method, path, headers, body }) => {
    const sent = method === 'GET' ? {} : { body: new Uint8Array(body) }
    const response = await fetch(`${url}${path}`, { method, headers, ...sent })
    const signature = response.headers.get(SERVICE_SIGNATURE_HEADER) ?? undefined
    return { status: response.status, body: new Uint8Array(await response.arrayBuffer()), signature }
  }

export interface Reply<T = Record<string, unknown>> {
  status: number
  content: T
  /** Whether the reply carries a valid signature for this request. */
  isSigned: boolean
}

export type Caller = Awaited<ReturnType<typeof createCaller>>

interface Options {
  send: Send
  /** The key of the matcher, whose public half the key holder knows. */
  seed: Uint8Array
  published: KeyHolderKey
  nowMs?: () => number
}

export async function createCaller({ send, seed, published, nowMs = Date.now }: Options) {
  const { privateKey } = await readServiceKey(seed)
  const serviceKey = await importServiceKey(published.serviceKey)

  async function call<T = Record<string, unknown>>(
    method: 'GET' | 'POST',
    path: string,
    body: Uint8Array | object = new Uint8Array(),
    {
      requestId = newId(),
      timeMs = nowMs(),
      header,
      hash,
    }: { requestId?: string; timeMs?: number; header?: string; hash?: string | null } = {},
  ): Promise<Reply<T>> {
    const isFrame = body instanceof Uint8Array
    const bytes = isFrame ? body : Buffer.from(JSON.stringify(body))
    const signature =
      header ?? (await signServiceRequest(privateKey, { method, path, body: bytes }, { requestId, timeMs }))
    const type = isFrame ? 'application/octet-stream' : 'application/json'
    const claimed = hash === undefined ? await bodyHash(bytes) : hash
    const headers = {
      [SERVICE_SIGNATURE_HEADER]: signature,
      ...(claimed !== null && { [BODY_HASH_HEADER]: claimed }),
      ...(method === 'POST' && { 'content-type': type }),
    }
    const reply = await send({ method, path, headers, body: bytes })
    const { status } = reply
    return {
      status,
      content: JSON.parse(Buffer.from(reply.body).toString()) as T,
      isSigned: await verifyServiceReply(serviceKey, reply.signature ?? '', { requestId, status, body: reply.body }),
    }
  }

  /** Fails loudly when the reply is not what a working service sends. */
  async function ask<T>(path: string, body: Uint8Array | object): Promise<T> {
    const { status, content, isSigned } = await call<T>('POST', path, body)
    if (status !== 200 || !isSigned) throw new Error(`${path} answered ${status}, ${isSigned ? '' : 'not '}signed`)
    return content
  }

  const nonceFor = async ({ realm, tokenId }: Pick<Subject, 'realm' | 'tokenId'>) =>
    (await ask<{ nonce: string }>(KEY_HOLDER_PATHS.nonces, { realm, tokenId })).nonce
  const { sealKey } = published

  return {
    call,
    ask,
    nonceFor,
    /** An enrolment from the nonce to the verdict. */
    async enrol(subject: Subject, evaluated: EvaluatedProbe, changes: Changes = {}): Promise<TokenVerdict> {
      const sending = { ...evaluated, sealKey, nonce: await nonceFor(subject) }
      const frame = await enrolmentFrame(subject, sending, changes)
      return (await ask<{ verdict: TokenVerdict }>(KEY_HOLDER_PATHS.enrolments, frame)).verdict
    },
    confirm: async ({ realm, tokenId }: Subject) =>
      (await ask<{ isKnown: boolean }>(KEY_HOLDER_PATHS.confirmations, { realm, tokenId })).isKnown,
    /** A comparison from the nonce to the verdict. The same evaluated probe may be sent again with another nonce. */
    async compare(subject: Subject, evaluated: EvaluatedProbe, changes: Changes = {}): Promise<TokenVerdict> {
      const sending = { ...evaluated, sealKey, nonce: await nonceFor(subject) }
      const frame = await comparisonFrame(subject, sending, changes)
      return (await ask<{ verdict: TokenVerdict }>(KEY_HOLDER_PATHS.evaluations, frame)).verdict
    },
    /** An enrolled and confirmed person. */
    async enrolPerson(subject: Subject, face: ArrayLike<number>): Promise<void> {
      const verdict = await this.enrol(subject, await evaluateFace(subject, face, { isEnrolment: true }))
      if (verdict !== 'accept' || !(await this.confirm(subject))) throw new Error(`The enrolment ended with ${verdict}`)
    },
  }
}

export const newSeed = () => randomBytes(32)
