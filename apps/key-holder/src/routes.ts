import { randomBytes } from 'node:crypto'
import {
  ConfirmationBody,
  ErasureBody,
  KEY_HOLDER_LIMITS,
  KEY_HOLDER_PATHS,
  NonceBody,
  type TokenVerdict,
} from '@ostiary/contract'
import type Type from 'typebox'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Config } from './config.ts'
import { onDeadline } from './deadline.ts'
import { createEnrolment } from './enrolment.ts'
import { CallError, Refused } from './errors.ts'
import { createEvaluation, type JudgingDeps } from './evaluation.ts'
import { type EvaluationFrame, readFrame } from './message.ts'
import { nonceStore, shareStore } from './shares/store.ts'

/** One operation: a body in, an object out. Signatures, request ids and errors are the caller's business (app.ts). */
export interface Route {
  operation: string
  method: 'GET' | 'POST'
  path: string
  /** Of a body that is no small JSON. */
  bodyBytes?: number
  handle(body: Uint8Array): Promise<object>
}

const NONCE_BYTES = 32

export function createRoutes(deps: JudgingDeps & Pick<Config, 'cosineMin'>): Route[] {
  const { db, clock, keys, metrics, log } = deps
  const enrol = createEnrolment(deps)
  const evaluate = createEvaluation(deps)

  /** The same answer for an unknown token, another face and every check that failed; the same time for all of them. */
  const verdictOf = (kind: string, decide: (frame: EvaluationFrame) => Promise<TokenVerdict>) => (body: Uint8Array) =>
    onDeadline(clock, KEY_HOLDER_LIMITS.deadlineMs, async () => {
      const frame = readFrame(body)
      const verdict = await decide(frame).catch((error: unknown): TokenVerdict => {
        if (!(error instanceof Refused)) throw error
        metrics.refusals.inc({ kind, check: error.check })
        if (error.check === 'token_hash') log.warn({ check: error.check }, 'the token is not the one that was enrolled')
        return 'reject'
      })
      metrics.evaluations.inc({ kind, verdict })
      return { verdict }
    })

  return [
    { operation: 'key', method: 'GET', path: KEY_HOLDER_PATHS.key, handle: async () => keys.published },
    {
      operation: 'nonces',
      method: 'POST',
      path: KEY_HOLDER_PATHS.nonces,
      // For every id alike: an enrolment asks for one before the token exists.
      handle: json(NonceBody, async (token) => {
        const nonce = randomBytes(NONCE_BYTES).toString('base64url')
        await nonceStore.add(db, { ...token, keyHolderNonce: nonce }, clock.now())
        return { nonce }
      }),
    },
    {
      operation: 'enrolments',
      method: 'POST',
      path: KEY_HOLDER_PATHS.enrolments,
      bodyBytes: KEY_HOLDER_LIMITS.bodyBytes,
      handle: verdictOf('enrolment', enrol),
    },
    {
      operation: 'evaluations',
      method: 'POST',
      path: KEY_HOLDER_PATHS.evaluations,
      bodyBytes: KEY_HOLDER_LIMITS.bodyBytes,
      handle: verdictOf('comparison', evaluate),
    },
    {
      operation: 'confirmations',
      method: 'POST',
      path: KEY_HOLDER_PATHS.confirmations,
      handle: json(ConfirmationBody, async (token) => ({ isKnown: await shareStore.confirm(db, token, clock.now()) })),
    },
    {
      operation: 'erasures',
      method: 'POST',
      path: KEY_HOLDER_PATHS.erasures,
      handle: json(ErasureBody, async (body) => {
        const erased = await db.transaction((tx) => shareStore.erase(tx, body))
        metrics.erasures.inc(erased)
        return { erased }
      }),
    },
  ]
}

function json<T extends TSchema>(schema: T, handle: (body: Type.Static<T>) => Promise<object>) {
  const check = Compile(schema)
  return (bytes: Uint8Array): Promise<object> => {
    const body = parse(bytes)
    if (!check.Check(body)) throw new CallError(400, 'The body does not have the expected fields')
    return handle(body as Type.Static<T>)
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new CallError(400, 'The body is not JSON')
  }
}
