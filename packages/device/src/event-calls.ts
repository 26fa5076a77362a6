import type { LaunchEvent, LaunchState, OpenedSession, SealedEvent, SealedLog } from '@ostiary/contract'
import { EVENTS_PER_CALL } from '@ostiary/contract/limits'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import type { createEventLog, SavedLog } from './event-log.ts'
import { type createSignedCalls, DeviceError } from './signed-calls.ts'

interface Deps extends Pick<ReturnType<typeof createSignedCalls>, 'post'> {
  log: ReturnType<typeof createEventLog>
  seal(payload: object): Promise<string>
  remember(state: LaunchState): LaunchState
}

/** A payload that is sealed together with the end of the log. */
interface Payload {
  log: SealedLog
}

/**
 * Sends the log: with the next call where the service takes it so, and in calls of its own to processes of the last release. Call all of it
 * only inside `withLock`.
 */
export function createEventCalls({ log, post, seal, remember }: Deps) {
  let travel = false
  /** The last text that was sealed, and what is in it. */
  let last: { sealed: string; payload: Payload } | undefined

  async function sendAlone(pending: readonly LaunchEvent[]): Promise<LaunchState | undefined> {
    let state: LaunchState | undefined
    for (let from = 0; from < pending.length; from += EVENTS_PER_CALL) {
      const events = pending.slice(from, from + EVENTS_PER_CALL)
      state = remember(await post<LaunchState>(LAUNCH_PATHS.events, { events }))
      log.confirm(events.at(-1)?.seq ?? 0)
    }
    return state
  }

  /** Sends alone what the server has not confirmed up to an entry. */
  async function sendUpTo(seq: number): Promise<void> {
    const { pending } = await log.read()
    await sendAlone(pending.filter((event) => event.seq <= seq))
  }

  /** Posts with entries that travel. Undefined if they do not: the server has to get them alone, and the call without them. */
  async function tryPost<T>(path: string, body: object, upToSeq: number, isRefusal: (error: DeviceError) => boolean) {
    try {
      const answer = await post<T>(path, body)
      log.confirm(upToSeq)
      return { answer }
    } catch (error) {
      // During an upgrade the call may reach a process of the last release, which refuses what it does not know.
      if (!(error instanceof DeviceError) || !isRefusal(error)) throw error
      travel = false
      return undefined
    }
  }

  /** A call and, with it or before it, the entries that the server has not confirmed. */
  async function postWithLog<T>(path: string, body: object): Promise<T> {
    const { seq, pending } = await log.read()
    const travelling = travel ? pending.slice(-EVENTS_PER_CALL) : []
    await sendUpTo(seq - travelling.length)
    if (travelling.length > 0) {
      const posted = await tryPost<T>(path, { ...body, events: travelling }, seq, isUnknownField)
      if (posted) return posted.answer
      await sendUpTo(seq)
    }
    return post<T>(path, body)
  }

  /** Keeps in mind what is in the text, for `postSealed`. */
  async function sealWithLog(payload: object): Promise<string> {
    const sealed = await seal(payload)
    const { log: end }: Partial<Payload> = payload
    last = end && { sealed, payload: { ...payload, log: end } }
    return sealed
  }

  /**
   * Sends a text of `sealWithLog`, once or again. Entries that are not in it go before it; those that were written after it was sealed
   * are sent later, because the server compares its last entry with the one in the payload.
   */
  async function postSealed<T>(path: string, sealed: string, more: object = {}): Promise<T> {
    const payload = last?.sealed === sealed ? last.payload : { log: await log.read() }
    const { seq, hash, events = [] }: SealedLog = payload.log
    if (events.length > 0 && travel) {
      await sendUpTo(seq - events.length)
      const posted = await tryPost<T>(path, { sealed, ...more }, seq, isUnreadable)
      if (posted) return posted.answer
    }
    await sendUpTo(seq)
    const text = events.length > 0 ? await seal({ ...payload, log: { seq, hash } }) : sealed
    return post<T>(path, { sealed: text, ...more })
  }

  return {
    sendAlone,
    postWithLog,
    sealWithLog,
    postSealed,
    /** The end of the log for a payload, with the entries that the server has not confirmed if it takes them so. */
    endOf({ seq, hash, pending }: SavedLog): SealedLog {
      const events = travel ? pending.slice(-EVENTS_PER_CALL).map(toSealed) : []
      return { seq, hash, ...(events.length > 0 && { events }) }
    },
    /** The process that opened the session says whether it takes entries with other calls. */
    opened: ({ eventsTravel }: OpenedSession) => {
      travel = eventsTravel === true
    },
  }
}

const isUnknownField = ({ code }: DeviceError) => code === 'VALIDATION_FAILED'

/**
 * What a process of the last release says to entries in a payload, and any process to a payload that they make too large. A process of this
 * release names details where the entries are not the reason.
 */
const isUnreadable = ({ code, hasDetails }: DeviceError) =>
  code === 'PAYLOAD_TOO_LARGE' || (code === 'INVALID_PAYLOAD' && !hasDetails)

const toSealed = ({ t, type, n }: LaunchEvent): SealedEvent => (n === undefined ? [t, type] : [t, type, n])
