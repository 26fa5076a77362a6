import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import { createCodeMemory } from './code-memory.ts'
import { BLOCK_BYTES, type CodeProbe } from './code-pool.ts'
import { CODES_PER_BLOCK } from './code-scan.ts'
import { type CodedSpace, codeStore } from './code-store.ts'
import { codeOf, readMiddle, sieveFor } from './face-code.ts'
import type { CodeStats, NodeMetrics } from './metrics.ts'
import type { SpaceId } from './store.ts'

// A deletion must have left every process after 5 s.
const FOLLOW_EVERY_MS = 2_000
const UNUSED_AFTER_MS = 3_600_000
const REFUSED_FOR_MS = 600_000
const REST_MS = 30_000
const BATCH = 4_000
const SEQS_BATCH = 20_000
// A database that failed over may have lost its last transactions, and have given their numbers to others.
const STEP_BACK = 10_000
const MOST_SCANS = 64
const DELETIONS_KEPT_MS = 900_000
const PURGE_BATCH = 2_000

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  metrics: NodeMetrics
  /** The most memory for codes in this process; 0 for none. */
  codesMemoryMb: number
}

/** The codes of one space. */
interface Held {
  id: SpaceId
  /** The number of its table in the memory of codes. */
  table: number
  partition: number
  middle: string
  middleValues: Float64Array
  /** Every vector up to this number has its code, unless it was deleted. */
  upTo: number
  /** The deletions that were followed, counted since the space exists. */
  deleted: number
  /** The number of the newest vector when the process last looked. */
  lastSeq: number
  isReady: boolean
  hasFailed: boolean
  codes: number
  usedMs: number
  followedMs: number
}

export interface CodeSearch extends Pick<CodeProbe, 'wanted' | 'within'> {
  partition: number
  embedding: Buffer
  /** The least cosine of a person who is recognised. */
  enough: number
  /** The least cosine that counts as a near miss. */
  near: number
}

export interface NearCodes {
  seqs: readonly number[]
  /** The scan has seen every vector up to this number. */
  upTo: number
}

/**
 * Codes of large spaces in the memory of this process. They are hints: the caller compares every candidate with the table, and
 * the vectors that are newer than the codes too (code-store.ts). Loaded with the first search of a space, kept up by looking every two
 * seconds, dropped an hour after the last search. While there are none, the caller searches the database.
 */
export function createFaceCodes({ cells, clock, log, metrics, codesMemoryMb }: Deps) {
  const maxBytes = codesMemoryMb * 1024 * 1024
  const held = new Map<string, Held>()
  const refused = new Map<string, number>()
  const memory = createCodeMemory(maxBytes, () => {
    log.error({}, 'the thread that holds codes of faces has ended: they are loaded again')
    held.clear()
    bytes = 0
  })
  let bytes = 0
  let nextTable = 1
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let loading: Promise<void> = Promise.resolve()
  const nameOf = ({ tenantId, livemode, version }: SpaceId) => `${tenantId}/${livemode}/${version}`
  const isHeld = (one: Held) => held.get(nameOf(one.id)) === one && !isClosed

  async function ask(one: Held, order: Parameters<typeof memory.ask>[1]) {
    const answer = await memory.ask(one.table, order)
    one.codes = answer.count
    bytes = answer.bytes
    return answer
  }

  function forget(one: Held): void {
    if (!isHeld(one)) return
    held.delete(nameOf(one.id))
    ask(one, { kind: 'drop' }).catch(() => {})
  }

  /** Its memory may be enough for a space that was refused. */
  function release(one: Held): void {
    forget(one)
    refused.clear()
  }

  function refuse(one: Held): void {
    log.warn({ tenantId: one.id.tenantId, count: one.lastSeq }, 'NODE_CODES_MEMORY_MB is too little for a space')
    forget(one)
    refused.set(nameOf(one.id), clock.monotonicMs() + REFUSED_FOR_MS)
  }

  /** A database or a thread that fails now is left alone for a while: a load reads the whole space. */
  function rest(one: Held): void {
    forget(one)
    refused.set(nameOf(one.id), clock.monotonicMs() + REST_MS)
  }

  /** Adds the codes up to the space's newest vector. Meanwhile it follows deletions, because it may take a while. */
  async function catchUp(one: Held, lastSeq: number): Promise<void> {
    const db = cells.forId(one.id.tenantId)
    while (isHeld(one) && one.upTo < lastSeq) {
      const range = { after: one.upTo, upTo: lastSeq, limit: BATCH }
      const batch = await codeStore.listCodes(db, one.id, { ...range, partition: one.partition, middle: one.middle })
      // Dropped meanwhile: what is added now would stay, and nobody would follow its deletions.
      if (!isHeld(one)) return
      if (!(await ask(one, { kind: 'add', records: batch.records })).done) return refuse(one)
      one.upTo = batch.count < BATCH ? lastSeq : batch.lastSeq
      if (clock.monotonicMs() - one.followedMs < FOLLOW_EVERY_MS) continue
      const [space] = await codeStore.findSpaces(db, [one.id])
      if (!isSame(one, space)) return forget(one)
      await followDeletions(one, space)
    }
  }

  async function followDeletions(one: Held, { deleted }: CodedSpace): Promise<void> {
    if (deleted !== one.deleted) {
      const range = { after: one.deleted, upTo: deleted }
      const deletions = await codeStore.listDeletions(cells.forId(one.id.tenantId), one.id, range)
      const seqs = deletions.flatMap((deletion) => deletion.seqs)
      if (seqs.length === deleted - one.deleted) await ask(one, { kind: 'remove', seqs })
      else await compareAll(one)
      one.deleted = deleted
    }
    one.followedMs = clock.monotonicMs()
  }

  /** A process of an earlier release notes no deletions, and old notes are purged: then all numbers are compared. */
  async function compareAll(one: Held): Promise<void> {
    const db = cells.forId(one.id.tenantId)
    metrics.codeComparisons.count('all')
    for (let after = 0; after < one.upTo && isHeld(one); ) {
      const range = { after, upTo: one.upTo, limit: SEQS_BATCH }
      const { count, lastSeq, seqs } = await codeStore.listSeqs(db, one.id, { ...range, partition: one.partition })
      const to = count < SEQS_BATCH ? one.upTo : lastSeq
      await ask(one, { kind: 'retain', from: after, to, seqs })
      after = to
    }
  }

  async function stepBack(one: Held): Promise<void> {
    const { upTo } = one
    one.upTo = Math.max(0, upTo - STEP_BACK)
    await ask(one, { kind: 'retain', from: one.upTo, to: upTo, seqs: [] })
    one.hasFailed = false
  }

  async function follow(one: Held, space: CodedSpace | undefined): Promise<void> {
    if (!isSame(one, space)) return release(one)
    one.lastSeq = space.lastSeq
    if (one.hasFailed) await stepBack(one)
    await followDeletions(one, space)
    await catchUp(one, space.lastSeq)
  }

  async function followAll(): Promise<void> {
    const now = clock.monotonicMs()
    for (const one of held.values()) if (one.isReady && now - one.usedMs > UNUSED_AFTER_MS) release(one)
    const ready = [...held.values()].filter(({ isReady }) => isReady)
    const byCell = Map.groupBy(ready, ({ id }) => cells.forId(id.tenantId))
    await Promise.all([...byCell].map(([db, inCell]) => followCell(db, inCell)))
  }

  async function followCell(db: Db, inCell: readonly Held[]): Promise<void> {
    const noteFailure = (failed: readonly Held[], err: unknown) => {
      for (const one of failed) one.hasFailed = true
      if (!isClosed) log.warn({ err }, 'the codes of faces could not be kept up')
    }
    const ids = inCell.map(({ id }) => id)
    const found = await codeStore.findSpaces(db, ids).catch((err: unknown) => noteFailure(inCell, err))
    if (!found) return
    const byName = new Map(found.map((space) => [nameOf(space), space]))
    // Side by side: a space whose statements fail or take long delays no deletion in another.
    await Promise.all(
      inCell.map((one) => follow(one, byName.get(nameOf(one.id))).catch((err: unknown) => noteFailure([one], err))),
    )
  }

  function followLater(): void {
    if (timer || isClosed) return
    timer = setTimeout(async () => {
      await followAll()
      timer = undefined
      if (held.size > 0) followLater()
    }, FOLLOW_EVERY_MS)
    timer.unref()
  }

  async function load(one: Held): Promise<void> {
    const db = cells.forId(one.id.tenantId)
    const [space] = await codeStore.findSpaces(db, [one.id])
    if (!isSame(one, space)) return forget(one)
    Object.assign(one, { lastSeq: space.lastSeq, deleted: space.deleted, followedMs: clock.monotonicMs() })
    if (bytes + Math.ceil(space.vectors / CODES_PER_BLOCK) * BLOCK_BYTES > maxBytes) return refuse(one)
    one.middle = await codeStore.findMiddle(db, one.id, one.partition)
    one.middleValues = readMiddle(one.middle)
    await catchUp(one, space.lastSeq)
    if (!isHeld(one)) return
    one.isReady = true
    followLater()
  }

  /** One space at a time, so that a start does not keep the database busy. */
  function loadLater(id: SpaceId, partition: number): void {
    const now = clock.monotonicMs()
    const one: Held = {
      id: { tenantId: id.tenantId, livemode: id.livemode, version: id.version },
      partition,
      table: nextTable++,
      middle: '',
      middleValues: new Float64Array(),
      upTo: 0,
      deleted: 0,
      lastSeq: 0,
      isReady: false,
      hasFailed: false,
      codes: 0,
      usedMs: now,
      followedMs: now,
    }
    held.set(nameOf(id), one)
    loading = loading
      .then(() => (isHeld(one) ? load(one) : undefined))
      .catch((err: unknown) => {
        rest(one)
        if (!isClosed) log.warn({ err, tenantId: id.tenantId }, 'the codes of a space could not be loaded')
      })
  }

  function without(reason: 'off' | 'memory' | 'loading' | 'busy' | 'lost'): undefined {
    if (reason !== 'off') metrics.codeFallbacks.count(reason)
    return undefined
  }

  return {
    /** The numbers of the vectors whose codes are nearest; undefined when this process has no codes of the space (yet). */
    async find(
      id: SpaceId,
      { partition, embedding, enough, near, ...most }: CodeSearch,
    ): Promise<NearCodes | undefined> {
      if (maxBytes === 0 || isClosed) return without('off')
      const one = held.get(nameOf(id))
      if (one) one.usedMs = clock.monotonicMs()
      if (one && one.partition !== partition) release(one)
      if (!one || !isHeld(one)) {
        if (clock.monotonicMs() < (refused.get(nameOf(id)) ?? 0)) return without('memory')
        loadLater(id, partition)
        return without('loading')
      }
      if (!one.isReady) return without('loading')
      if (memory.scanning() >= MOST_SCANS) return without('busy')
      const { upTo } = one
      const sieve = Math.max(sieveFor(enough, one.middleValues, 3), sieveFor(near, one.middleValues, 2))
      const probe = { code: codeOf(embedding, one.middleValues), sieve, ...most }
      const answer = await ask(one, { kind: 'scan', probe }).catch(() => undefined)
      return answer?.seqs && isHeld(one) ? { seqs: answer.seqs, upTo } : without('lost')
    },
    /** What the metrics show. */
    stats(): CodeStats {
      const all = [...held.values()]
      return {
        codes: all.reduce((sum, { codes }) => sum + codes, 0),
        bytes,
        behind: Math.max(0, ...all.map(({ lastSeq, upTo }) => lastSeq - upTo)),
        followedMs: Math.max(0, ...all.map(({ followedMs }) => clock.monotonicMs() - followedMs)),
      }
    },
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      held.clear()
      await memory.stop()
      await loading
    },
  }
}
export type FaceCodes = ReturnType<typeof createFaceCodes>

/** A process that has not followed for so long compares all numbers. */
export function purgeDeletions(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - DELETIONS_KEPT_MS)
  return purgeInBatches(PURGE_BATCH, (limit) => codeStore.purgeDeletions(db, before, limit))
}

/** A space that was moved, rebuilt or restored has other numbers or vectors than those of the codes. */
function isSame(one: Held, space: CodedSpace | undefined): space is CodedSpace {
  return space !== undefined && space.partition === one.partition && space.lastSeq >= one.upTo
}
