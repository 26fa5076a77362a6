import { hash } from 'node:crypto'
import type { WebhookDeliveryPage } from '@ostiary/contract'
import { type Client, createClient } from '@ostiary/testkit/measuring/sessions-load'
import { sleep } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'
import { acknowledgementsFile, creationsFile } from './million-journal.ts'
import { createLedger, type Ledger } from './million-ledger.ts'
import { slotAt } from './million-plan.ts'
import {
  ACKNOWLEDGEMENT_BYTES,
  ARRIVAL_BYTES,
  CREATION_BYTES,
  type Creation,
  HASH_BYTES,
  readAcknowledgement,
  readArrival,
  readCreation,
  readRecords,
  toId,
  tokenOf,
  toUuid,
} from './million-records.ts'
import { arrivalFiles, type Running, type Site } from './million-site.ts'

/** Longer than the fourth wait between attempts: when nothing has come for so long, nothing more comes. */
const QUIET_MS = 900_000
const LOOK_MS = 2_000
const REPORT_MS = 30_000
const READERS = 8
/** Results that are compared with what arrived, byte by byte. */
const SAMPLES = 2_000
/** The last sessions expire 90 seconds after the load has ended. */
const SWEPT_WITHIN_MS = 150_000

interface Books {
  ledger: Ledger
  /** Sessions without an event, and some of those with one. */
  silent: Creation[]
  samples: Creation[]
}

/** Reads what was acknowledged, when nothing is added any more. */
export function openBooks(dir: string, slots: number): Books {
  const books: Books = { ledger: createLedger(slots), silent: [], samples: [] }
  const every = Math.max(1, Math.floor(slots / SAMPLES))
  for (const record of readRecords(creationsFile(dir), CREATION_BYTES)) {
    const creation = readCreation(record)
    const slot = slotAt(creation.slot)
    books.ledger.create(creation)
    if (!slot.hasEvent) books.silent.push(creation)
    else if (creation.slot % every === 0 && !slot.sendsPicture) books.samples.push(creation)
  }
  for (const record of readRecords(acknowledgementsFile(dir), ACKNOWLEDGEMENT_BYTES)) {
    books.ledger.acknowledge(readAcknowledgement(record))
  }
  return books
}

/** Waits until every event has been taken, or nothing moves any more. False when it was stopped before. */
export async function drain(
  dir: string,
  { ledger }: Books,
  { isStopped, say }: { isStopped(): boolean; say(text: string): void },
): Promise<boolean> {
  const read = arrivalFiles(dir).map((file) => ({ file, count: 0 }))
  let movedMs = performance.now()
  let reportedMs = Number.NEGATIVE_INFINITY
  for (;;) {
    for (const one of read) {
      for (const record of readRecords(one.file, ARRIVAL_BYTES, one.count)) {
        ledger.arrive(readArrival(record))
        one.count++
        movedMs = performance.now()
      }
    }
    const lost = ledger.lost()
    const nowMs = performance.now()
    if (lost === 0 || nowMs - movedMs > QUIET_MS) return true
    if (isStopped()) return false
    if (nowMs - reportedMs > REPORT_MS) {
      say(`${lost} events have not arrived yet`)
      reportedMs = nowMs
    }
    await sleep(LOOK_MS)
  }
}

export interface Answers {
  silent: number
  /** Sessions without a callback that are not EXPIRED although their time is over. */
  leftOpen: number
  /** What the workers count themselves. */
  overdue: number
  /** Results that are not the bytes that arrived, or that change from one reading to the next. */
  changedResults: number
}

/** Compares with what the API says: the log of deliveries, results, and sessions that gave no event. */
export async function askApi(site: Site, running: Running, { ledger, silent, samples }: Books): Promise<Answers> {
  const client = createClient(running.apiUrl, READERS)
  try {
    await Promise.all(site.hosts.map((_, tenant) => readLog(client, site, tenant, ledger)))
    let changedResults = 0
    await inParallel(samples.length, READERS, async (index) => {
      const creation = samples[index]
      if (!creation) return
      const bytes = await readResult(client, site, creation)
      const arrived = ledger.hashOf(creation.slot)
      if (!hash('sha256', bytes, 'buffer').subarray(0, HASH_BYTES).equals(arrived)) changedResults++
    })
    const expired = await readSilent(client, site, silent)
    return {
      silent: silent.length,
      leftOpen: expired.leftOpen,
      overdue: await countOverdue(running),
      changedResults: changedResults + expired.changed,
    }
  } finally {
    await client.close()
  }
}

async function readLog(client: Client, { hosts }: Site, tenant: number, ledger: Ledger): Promise<void> {
  const host = hosts[tenant]
  let cursor: string | null = null
  while (host) {
    const path: string = `/webhooks/deliveries?limit=200${cursor === null ? '' : `&cursor=${cursor}`}`
    const page: WebhookDeliveryPage = await client.read(host, path)
    for (const { id, sessionId, state } of page.items) ledger.log(toId(sessionId), toId(id), state === 'delivered')
    if (page.nextCursor === null) return
    cursor = page.nextCursor
  }
}

function readResult(client: Client, { hosts }: Site, creation: Creation): Promise<Buffer> {
  const { area, tenant } = slotAt(creation.slot)
  const host = hosts[tenant]
  if (!host) throw new Error('There are no tenants')
  const path =
    area === 'C' ? `/session/${tokenOf(creation)}/result` : `/v2/verification-session/${toUuid(creation.id)}/webhook`
  return client.bytes(host, path)
}

/** Reads each until it has expired, and once more: it must give the same bytes. */
async function readSilent(client: Client, site: Site, silent: readonly Creation[]) {
  let changed = 0
  let open = [...silent]
  const giveUpAt = performance.now() + SWEPT_WITHIN_MS
  while (open.length > 0) {
    const left: Creation[] = []
    await inParallel(open.length, READERS, async (index) => {
      const creation = open[index]
      if (!creation) return
      const bytes = await readResult(client, site, creation)
      const { flowStatus } = JSON.parse(bytes.toString()) as { flowStatus: string | null }
      if (flowStatus !== 'EXPIRED') left.push(creation)
      else if (!bytes.equals(await readResult(client, site, creation))) changed++
    })
    open = left
    if (open.length === 0 || performance.now() > giveUpAt) break
    await sleep(LOOK_MS)
  }
  return { changed, leftOpen: open.length }
}

async function countOverdue(running: Running): Promise<number> {
  const counts = await Promise.all(
    running.workerAdminUrls().map(async (url) => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(/^ostiary_sessions_overdue\{[^}]*\} (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
    }),
  )
  return Math.max(...counts)
}
