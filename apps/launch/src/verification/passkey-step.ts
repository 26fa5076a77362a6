import type { PasskeyOptions } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { PASSKEY_ATTEMPTS } from '@ostiary/contract/limits'
import type { PasskeyProblem } from '../flow/states.ts'
import type { VerificationLink } from '../flow/verification-part.ts'
import type { Passkeys } from './browser-apis.ts'

/** The service accepts an answer for five minutes; the browser's dialog may take one of them. */
const FRESH_MS = 3.5 * 60_000

/** Asks the browser for a passkey, submits the answer, and reports a user without one. */
export function createPasskeyStep({ deps, store, session }: VerificationLink, passkeys: Passkeys | null) {
  let prepared: { options: Promise<PasskeyOptions>; atMs: number } | null = null

  /** Options fetched before the tap: a browser refuses a request that comes too long after it. */
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
    /** The passkey screen is shown. */
    enter(): void {
      if (!passkeys) store.dispatch({ type: 'passkey', status: 'unsupported' })
      else prepare().catch((error) => session.settle(error))
    },
    /** Another screen is shown. The next attempt, here or on another device, fetches its own options. */
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
        // Options are good for one answer, accepted or not.
        prepared = null
        await send(answer)
      } catch (error) {
        await session.settle(error)
      }
    },
    /** The user has no passkey: each report uses up a try, until the service ends the flow. */
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

/** `NotAllowedError` means cancelled, timed out or no passkey: browsers hide which, so that pages cannot find out. */
export function problemOf(error: unknown, mode: PasskeyOptions['mode']): PasskeyProblem {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return mode === 'get' ? 'none_here' : 'cancelled'
  return name === 'NotSupportedError' || name === 'SecurityError' ? 'unsupported' : 'failed'
}
