import { createFaces } from '@ostiary/server/measure'
import { type Client, createClient, type Host } from '@ostiary/testkit/measuring/sessions-load'
import type { Moments } from './kill-moments.ts'
import type { Ending } from './lost-and-found.ts'
import type { Journal } from './million-journal.ts'
import { lifetimesOfBursts, type Slot, type Step, slotAt } from './million-plan.ts'
import { type Creation, secretOf, toId, tokenOf, toUuid } from './million-records.ts'
import type { Running, Site } from './million-site.ts'
import { playRepeatedFlow } from './repeated-flow.ts'

/** Enough that creations share statements, as those of many hosts do. */
const LANES = 32
/** As long as a tenant without a permission may ask for: only what shall expire does. */
const LIFETIME_SECONDS = 86_400
/** More answers that no caller expects mean that something else is wrong. */
const REFUSED_MOST = 20

interface Load {
  site: Site
  running: Running
  journal: Journal
  moments: Moments<Step>
  say(text: string): void
  /** Resolves when the next slot may begin: at once, but while a kill is late. */
  pass(lane: number): Promise<void>
  isOver(): boolean
}

export interface LoadReport {
  /** Calls that failed and were repeated. */
  failures: number
  /** Flows of devices that a fault stopped, and that the sandbox ended instead. */
  deviceFallbacks: number
}

/** Plays slots until all are acknowledged or the time is over. Everything under way is finished first. */
export async function playSlots(load: Load): Promise<LoadReport> {
  const { site, running, journal, moments, say, pass, isOver } = load
  const client = createClient(running.apiUrl, LANES)
  const players = createPlayers({ site, running, client, moments, say })
  const queue = journal.open()
  let refused = 0

  async function playOne(slot: Slot): Promise<void> {
    try {
      const before = journal.creationOf(slot.number)
      const creation = before ?? (await players.create(slot))
      // The end is acknowledged by a later record, which waits for this one too.
      const written = before ? Promise.resolve() : journal.create(creation)
      const ending = await players.end(slot, creation, before !== undefined)
      await written
      await journal.acknowledge({ slot: slot.number, ending, isRefused: false })
    } catch (error) {
      say(`slot ${slot.number} (${slot.area} ${slot.way}): ${error instanceof Error ? error.message : error}`)
      if (++refused > REFUSED_MOST) throw error
      await journal.acknowledge({ slot: slot.number, ending: slot.ending, isRefused: true })
    }
  }

  try {
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        while (!isOver()) {
          await pass(lane)
          const next = queue.next()
          if (next.done) return
          await playOne(slotAt(next.value))
        }
      }),
    )
  } finally {
    await client.close()
  }
  return { failures: client.failures(), deviceFallbacks: players.deviceFallbacks() }
}

interface PlayerDeps {
  site: Site
  running: Running
  client: Client
  moments: Moments<Step>
  say(text: string): void
}

function createPlayers({ site, running, client, moments, say }: PlayerDeps) {
  const faces = createFaces(Date.now() % 1_000_000)
  let deviceFallbacks = 0
  const hostOf = ({ tenant }: Slot): Host => site.hosts[tenant] ?? missing()
  const callbackOf = ({ receiver }: Slot) => ({ url: running.receiverUrls[receiver] ?? '' })
  const lifetimesOf = ({ way }: Slot) =>
    way === 'expire' || way === 'silent' ? lifetimesOfBursts(Date.now()) : [LIFETIME_SECONDS]
  // The same in every piece: a creation whose answer was lost gives the same session again.
  const repeatKeyOf = ({ number }: Slot) => `${site.run}/${number}`

  async function createAge(slot: Slot, sessionExpiry: number): Promise<Creation> {
    const body = {
      redirectUrl: 'https://host.example/checked',
      ageThreshold: 30,
      ...(slot.hasEvent && { callback: callbackOf(slot) }),
      metadata: { slot: slot.number },
      sessionExpiry,
    }
    const { sessionId, token } = await client.create(hostOf(slot), body, repeatKeyOf(slot))
    return { slot: slot.number, id: toId(sessionId), secret: secretOf(token) }
  }

  async function createVerification(slot: Slot, sessionExpiry: number): Promise<Creation> {
    const body = {
      type: slot.way === 'outcome' && slot.number % 2 === 0 ? ('SIGN-IN' as const) : ('ENROLL' as const),
      redirectURL: 'https://host.example/welcome',
      callback: callbackOf(slot),
      transactionID: `slot ${slot.number}`,
      sendImages: slot.sendsPicture,
      sessionExpiry,
    }
    const { sessionId } = await client.createVerification(hostOf(slot), body, repeatKeyOf(slot))
    return { slot: slot.number, id: toId(sessionId), secret: Buffer.alloc(32) }
  }

  function playDevice(slot: Slot, sessionId: string): Promise<boolean> {
    return playRepeatedFlow({
      ...{ baseUrl: running.apiUrl, sessionId, number: slot.number },
      ...(slot.area === 'D' && { vector: faces.sample(faces.person(), 0.9) }),
      onCall: () => moments.reach('device'),
      onStop: (why) => say(`a device of slot ${slot.number} (area ${slot.area}) gave up: ${why}`),
    })
  }

  const pathOf = (slot: Slot, creation: Creation) =>
    slot.area === 'C' ? `/session/${tokenOf(creation)}` : `/v2/verification-session/${toUuid(creation.id)}`

  /** The end as the API says it, which must not change any more. */
  async function readEnding(slot: Slot, creation: Creation): Promise<Ending> {
    const path = `${pathOf(slot, creation)}/${slot.area === 'C' ? 'result' : 'webhook'}`
    const body = await client.read<{ flowStatus?: Ending; outcome: Ending }>(hostOf(slot), path)
    return slot.area === 'C' ? (body.flowStatus ?? missing()) : body.outcome
  }

  return {
    deviceFallbacks: () => deviceFallbacks,
    async create(slot: Slot): Promise<Creation> {
      moments.reach('creation')
      const create = slot.area === 'C' ? createAge : createVerification
      const [lifetime = 0, ...others] = lifetimesOf(slot)
      return create(slot, lifetime).catch(async (error) => {
        // An earlier piece created it, its answer was lost, and its lifetime, which the repeat must have too, was that of its moment.
        for (const other of others) {
          const creation = await create(slot, other).catch(unlessMismatch)
          if (creation) return creation
        }
        throw error
      })
    },
    /** Ends it, and returns how. A session of an earlier piece may have ended there, or its time may be over: then the API says how. */
    async end(slot: Slot, creation: Creation, isOld: boolean): Promise<Ending> {
      const { way, ending } = slot
      if (way === 'expire' || way === 'silent') return ending
      const sessionId = toUuid(creation.id)
      let isRead = isOld
      if (way === 'device') {
        isRead = true
        if (await playDevice(slot, sessionId)) return readEnding(slot, creation)
        deviceFallbacks++
      }
      moments.reach('end')
      if (way === 'cancel') await client.cancel(hostOf(slot), pathOf(slot, creation))
      else if (way === 'spoof') await client.complete(hostOf(slot), sessionId, { outcome: 'spoof' })
      else await client.complete(hostOf(slot), sessionId, slot.area === 'D' ? { outcome: 'success' } : {})
      return isRead ? readEnding(slot, creation) : ending
    },
  }
}

function unlessMismatch(error: unknown): undefined {
  if (!(error instanceof Error && error.message.includes('IDEMPOTENCY_MISMATCH'))) throw error
}

function missing(): never {
  throw new Error('Something that must be there is missing')
}
