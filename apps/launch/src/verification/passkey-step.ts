import type { PasskeyOptions } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { PASSKEY_ATTEMPTS } from '@ostiary/contract/limits'
import type { PasskeyProblem } from '../flow/states.ts'
import type { VerificationLink } from '../flow/verification-part.ts'
import type { Passkeys } from './browser-apis.ts'

/** The service takes an answer for five minutes, and a user may take one of them. */
const FRESH_MS = 3.5 * 60_000

/** Asks the browser for a passkey, sends what it says, and reports who has none. */
export function createPasskeyStep({ deps, store, session }: VerificationLink, passkeys: Passkeys | null) {
  let prepared: { options: Promise<PasskeyOptions>; atMs: number } | null = null

  /** Before the tap: a browser that is asked later than a moment after it says no. */
  function prepare(): Promise<PasskeyOptions> {
    const nowMs = deps.clock.monotonicMs()
    if (prepared && nowMs - prepared.atMs < FRESH_MS) return prepared.options
    const options = session.call((device) => device.passkeyOptions())
    prepared = { options, atMs: nowMs }
    options.then(
      ({ mode }) => {
        const { verification } = store.view()
        if (verification) store.patch({ verification: { ...verification, passkeyMode: mode } })
      },
      () => {
        prepared = null
      },
    )
    return options
  }

  async function send(answer: object): Promise<void> {
    store.dispatch({ type: 'passkey', status: 'checking' })
    const judged = await session.call((device) => device.passkeyVerify(answer))
    store.patch({ session: judged })
    store.dispatch({ type: 'judged', session: judged })
  }

  return {
    /** The screen is shown. */
    enter(): void {
      if (!passkeys) store.dispatch({ type: 'passkey', status: 'unsupported' })
      else prepare().catch((error) => session.settle(error))
    },
    /** Another screen is shown. Whatever comes next, on this device or another, gets a question of its own. */
    leave(): void {
      prepared = null
    },
    async ask(): Promise<void> {
      const { state } = store.view()
      if (!passkeys || state.at !== 'passkey' || state.status === 'asking' || state.status === 'checking') return
      store.dispatch({ type: 'passkey', status: 'asking' })
      try {
        const asked = await prepare()
        const answer = await passkeys.ask(asked).catch((error: unknown) => {
          store.dispatch({ type: 'passkey', status: problemOf(error, asked.mode) })
          return null
        })
        // The session may have gone to another device while the browser asked.
        if (answer === null || store.view().state.at !== 'passkey') return
        // One answer for each question, be it right or wrong.
        prepared = null
        await send(answer)
      } catch (error) {
        await session.settle(error)
      }
    },
    /** The user has none: each report uses up a try, until the service ends the flow. */
    async skip(): Promise<void> {
      const { state } = store.view()
      if (state.at !== 'passkey') return
      const reason = state.status
      store.dispatch({ type: 'passkey', status: 'checking' })
      try {
        for (let reports = 0; reports < PASSKEY_ATTEMPTS; reports++) {
          const reply = await session.call((device) => device.failure(codes.PASSKEY_FAILED, reason))
          session.update(reply)
          if (reply.flowStatus !== null) return
        }
        await session.reopen()
      } catch (error) {
        await session.settle(error)
      }
    },
  }
}

/** A browser says `NotAllowedError` to whoever cancels, waits too long, or has no passkey, so that pages cannot find out which. */
export function problemOf(error: unknown, mode: PasskeyOptions['mode']): PasskeyProblem {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return mode === 'get' ? 'none_here' : 'cancelled'
  return name === 'NotSupportedError' || name === 'SecurityError' ? 'unsupported' : 'failed'
}
