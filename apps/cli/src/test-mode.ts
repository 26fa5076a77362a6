import type { SetOutcomeBody } from '@ostiary/contract'
import { OstiaryError } from '@ostiary/sdk'
import type { Connection } from './connection.ts'

/** Ends a test session: `POST /test/sessions/:id/outcome`. */
export async function setOutcome(
  { url, apiKey = '' }: Pick<Connection, 'url' | 'apiKey'>,
  sessionId: string,
  body: SetOutcomeBody,
): Promise<void> {
  const response = await fetch(new URL(`/test/sessions/${encodeURIComponent(sessionId)}/outcome`, url), {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new OstiaryError(response.status, (await response.json()) as object)
}
