import { randomUUID } from 'node:crypto'
import type { Check } from './checks.ts'
import { inventedResult, type SignedEvent, signedEvent } from './webhook-event.ts'

const ANSWER_MS = 10_000
const SLOW_MS = 3_000
const OLD_MS = 10 * 60_000

interface Answer {
  /** 0: there was none. */
  status: number
  tookMs: number
  reason?: string
}

/** Sends a genuine event and four others to a receiver, and says what each answer means. */
export async function checkReceiver(url: string, apiKey: string, now: () => Date): Promise<Check[]> {
  const send = (event: SignedEvent) => post(url, event, now)
  const genuine = { id: randomUUID(), result: inventedResult(now()) }
  const first = await send(await signedEvent(apiKey, { ...genuine, at: now() }))
  const checks = [judgeGenuine(first)]
  // Without an answer the other calls would say the same.
  if (first.status === 0) return checks
  checks.push(judgeTime(first))
  const again = await signedEvent(apiKey, { ...genuine, at: now(), attempt: 2 })
  checks.push(judgeAgain(await send(again)))
  const forged = await signedEvent(`${apiKey.slice(0, -4)}0000`, { at: now() })
  checks.push(judgeForged('wrong signature', await send(forged), 'Everybody who knows the address can send you events'))
  const { headers, body } = await signedEvent(apiKey, { at: now() })
  const changed = { headers, body: body.replace('AGE_ABOVE_THRESHOLD', 'AGE_BELOW_THRESHOLD') }
  checks.push(judgeForged('changed body', await send(changed), 'Sign the bytes as they came, not a part of them'))
  const old = await signedEvent(apiKey, { at: new Date(now().getTime() - OLD_MS) })
  checks.push(judgeOld(await send(old)))
  return checks
}

async function post(url: string, { headers, body }: SignedEvent, now: () => Date): Promise<Answer> {
  const startedAt = now().getTime()
  const tookMs = () => now().getTime() - startedAt
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    return { status: response.status, tookMs: tookMs() }
  } catch (error) {
    return { status: 0, tookMs: tookMs(), reason: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  if ((error as Error).name === 'TimeoutError') return `no answer in ${ANSWER_MS / 1000} s`
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : (error as Error).message
}

const isOk = ({ status }: Answer) => status >= 200 && status < 300

function judgeGenuine(answer: Answer): Check {
  const name = 'genuine event'
  if (isOk(answer)) return { name, state: 'ok', finding: `answered ${answer.status}` }
  const finding = answer.status === 0 ? `not answered: ${answer.reason}` : `answered ${answer.status}`
  return { name, state: 'failed', finding, remedy: remedyFor(answer.status) }
}

function remedyFor(status: number): string {
  if (status === 0) return 'Is the receiver running, and is this its address? A worker waits 10 seconds and tries again'
  if (status >= 300 && status < 400) return 'Name the final address: redirects are never followed'
  if (status === 404) return 'The path is not the one of the receiver'
  if (status === 405) return 'The receiver must take POST'
  if (status === 410) return '410 ends the delivery for ever: answer it only when you want no more events'
  if (status === 413 || status === 415) return 'The receiver must take JSON of up to 1 MB'
  if (status >= 500) return 'The receiver failed: its log says why. Answer 2xx first and work afterwards'
  return 'It refuses a genuine event. Most often the body was parsed before it was checked (verify the raw bytes), the receiver has another API key, or its clock is wrong: docs/webhooks.md'
}

function judgeTime({ tookMs }: Answer): Check {
  const name = 'time'
  if (tookMs <= SLOW_MS) return { name, state: 'ok', finding: `${tookMs} ms` }
  const remedy = 'Answer first and work afterwards: after 10 s the attempt counts as failed and is repeated'
  return { name, state: 'warning', finding: `${tookMs} ms`, remedy }
}

function judgeAgain(answer: Answer): Check {
  const name = 'the same again'
  if (isOk(answer)) return { name, state: 'ok', finding: `answered ${answer.status}` }
  return {
    name,
    state: 'failed',
    finding: answer.status === 0 ? `not answered: ${answer.reason}` : `answered ${answer.status}`,
    remedy: 'Answer 2xx to a delivery that you have had already, and count it once: anything else repeats it for days',
  }
}

function judgeForged(name: string, answer: Answer, danger: string): Check {
  if (!isOk(answer)) return { name, state: 'ok', finding: `refused with ${answer.status}` }
  const remedy = `${danger}: verify X-Service-Signature before anything else (docs/webhooks.md)`
  return { name, state: 'failed', finding: `accepted with ${answer.status}`, remedy }
}

function judgeOld(answer: Answer): Check {
  const name = 'old timestamp'
  if (!isOk(answer)) return { name, state: 'ok', finding: `refused with ${answer.status}` }
  const remedy = 'Advice: refuse timestamps more than 5 minutes away, so that a recorded event cannot be sent again'
  return { name, state: 'warning', finding: `10 minutes old, accepted with ${answer.status}`, remedy }
}
