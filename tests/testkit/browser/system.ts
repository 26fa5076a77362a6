import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgeResult, type CreateSessionBody, createClient, type OstiaryClient } from '@ostiary/sdk'
import { setting } from '../setting.ts'

/** A customer: its key, its client, and the sandbox calls of a test key. */
export interface Host {
  apiKey: string
  client: OstiaryClient
  create(body?: Partial<CreateSessionBody>): Promise<CreatedVisit>
  /** Advances the time of the existing test sessions. */
  advanceClock(seconds: number): Promise<void>
}

export interface CreatedVisit {
  token: string
  sessionId: string
  launchUrl: string
  /** The result as the host reads it now. */
  result(): Promise<AgeResult>
  /** The result once the flow has ended. */
  ended(): Promise<AgeResult>
}

/** For background work of the service. */
const WAIT_MS = 120_000
/** The models estimate an age well above this threshold for the portrait. */
const AGE_THRESHOLD = 20
/** For tests that do not follow the user back. */
const REDIRECT_URL = 'https://shop.example/back'

export function hostOf(keyName: string): Host {
  const [baseUrl, apiKey] = [setting('OSTIARY_URL'), setting(keyName)]
  const client = createClient({ baseUrl, apiKey })
  return {
    apiKey,
    client,
    async create(body = {}) {
      const created = await client.age.create({
        redirectUrl: REDIRECT_URL,
        ageThreshold: AGE_THRESHOLD,
        enableDesktop: true,
        facialAgeEstimationReturnFormat: 'both',
        ...body,
      })
      const { token, launchUrl, sessionId } = created
      return {
        token,
        launchUrl,
        sessionId,
        result: () => client.age.result(token),
        ended: () => client.age.waitForResult(token, { timeoutMs: WAIT_MS }),
      }
    },
    async advanceClock(seconds) {
      const response = await fetch(`${baseUrl}/test/clock/advance`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ seconds }),
      })
      assert.equal(response.status, 204)
    },
  }
}

/** How a flow ended, in short. */
export async function endOf(created: CreatedVisit) {
  const { flowStatus, sessionStatus, errors, errorDetails } = await created.ended()
  return { flowStatus, sessionStatus, errors, reasons: errorDetails.flatMap(({ reason }) => reason ?? []) }
}

/** Asks again until there is an answer. */
export async function eventually<T>(what: string, ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + WAIT_MS
  while (performance.now() < giveUpAt) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await sleep(ASK_EVERY_MS)
  }
  throw new Error(`This did not happen within ${WAIT_MS / 1000} s: ${what}`)
}
const ASK_EVERY_MS = 50
