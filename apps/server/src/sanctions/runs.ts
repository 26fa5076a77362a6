import {
  type CreateRunBody,
  type HitChange,
  RUN_LIMITS,
  type RunHit,
  type RunHitPage,
  type RunPage,
  type RunRecord,
  type RunState,
  SANCTIONS_LIMITS,
} from '@ostiary/contract'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import type { Caller } from '../keys/index.ts'
import { readCursor, readIdCursor, writeCursor } from '../platform/cursor.ts'
import type { Db } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { bucketOf, isId } from '../platform/ids.ts'
import type { Platform } from '../platform/platform.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import type { Sessions } from '../sessions/index.ts'
import type { Settings } from '../settings/index.ts'
import { hitScore, keyText, readHits } from './engine/hits.ts'
import { tooManyHits } from './engine/pool.ts'
import type { RowsAnswer } from './engine/rows.ts'
import { type HitPosition, type Kept, runStore, type StoredHit, type StoredRun } from './runs-store.ts'

const { pageDefault, pageMax } = SANCTIONS_LIMITS
const DAY_MS = 86_400_000
const OPEN_MS = RUN_LIMITS.openHours * 3_600_000
/** Each may have 200,000 hits. */
const PURGE_BATCH = 5
const KEY_BYTES = 16
const FIRST: HitPosition = { rowKey: Buffer.alloc(0), entityKey: Buffer.alloc(0) }

/** Comparisons that are made at once. */
const MOST_COMPARISONS = 4
/** Nobody waits longer for one: what is queued would be worked off after its callers have gone. */
const COMPARISON_WAIT = {
  waitMs: 5_000,
  refusal: () =>
    new AppError('unavailable', 'DEPENDENCY_DOWN', 'Other runs of your account are being compared, try again', {
      retryAfterSeconds: 1,
    }),
}

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'ids' | 'log'> {
  settings: Pick<Settings, 'get'>
  hasherFor: Sessions['hasherFor']
}

/** What the parts of one run have in common. */
interface Checked {
  version: string
  scorerVersion: string
  threshold: number
}

/** One part of a run, from its arrival to its answer. */
export interface RunPart {
  hitKey: Uint8Array
  /** Throws when an earlier part was checked differently. */
  check(checked: Checked): void
  store(rows: number, answers: readonly RowsAnswer[], checked: Checked): Promise<void>
}

/** Runs that tenants keep. Callers without a key have none: nothing of their files is stored (decisions.md, section 3). */
export function createRunService({ cells, clock, ids, log, settings, hasherFor }: Deps) {
  // One of a tenant at a time: each is ten times as dear as a usual call.
  const comparisons = createFairSlots({ total: MOST_COMPARISONS, perOwner: 1 })

  const daysOf = async (tenantId: string) => (await settings.get(tenantId)).screeningRunDays

  /** Without days nothing counts, open runs neither: a tenant that has just turned runs off sees none. */
  function keptAt(now: Date, days: number): Kept {
    const before = (ms: number) => new Date(now.getTime() - ms)
    return { completeAfter: before(days * DAY_MS), openAfter: before(days === 0 ? 0 : OPEN_MS) }
  }

  async function find(caller: Caller, id: string): Promise<{ run: StoredRun; days: number }> {
    const days = await daysOf(caller.tenantId)
    const kept = keptAt(clock.now(), days)
    const run = isId(id) ? await runStore.find(cells.forId(caller.tenantId), caller, id, kept) : undefined
    if (!run) throw unknownRun()
    return { run, days }
  }

  async function findComplete(caller: Caller, id: string): Promise<StoredRun> {
    const { run } = await find(caller, id)
    if (!run.completedAt) throw conflict('The run is not complete: only complete runs can be read and compared')
    return run
  }

  /** Another key for test data, and never the tenant's key itself. */
  async function hitKeyOf({ tenantId, livemode }: Caller): Promise<Buffer> {
    const hash = await hasherFor(cells.forId(tenantId), tenantId)
    return Buffer.from(hash('screening-hits', livemode), 'base64url')
  }

  return {
    async create(caller: Caller, { dataset, series }: CreateRunBody): Promise<RunRecord> {
      const days = await daysOf(caller.tenantId)
      if (days === 0) throw notKept()
      const db = cells.forId(caller.tenantId)
      if ((await runStore.count(db, caller)) >= RUN_LIMITS.runs)
        throw conflict(`At most ${RUN_LIMITS.runs} runs are kept: delete some`)
      const id = ids.next(bucketOf(caller.tenantId))
      const fresh = { id, dataset, series: series ?? null, startedAt: clock.now() }
      await runStore.insert(db, caller, fresh)
      return toRecord({ ...fresh, ...NOTHING_YET }, days)
    },

    async complete(caller: Caller, id: string, parts: number): Promise<RunRecord> {
      const { days } = await find(caller, id)
      const now = clock.now()
      return cells.forId(caller.tenantId).transaction(async (tx) => {
        const run = await runStore.lock(tx, caller, id)
        if (!run) throw unknownRun()
        const arrived = run.partRows.filter((rows) => rows !== null).length
        if (arrived !== parts || run.partRows.length !== parts) {
          throw conflict(`The run has ${arrived} of ${parts} parts: send each of them, numbered from 1`)
        }
        if (!run.completedAt) await runStore.complete(tx, caller, id, now)
        return toRecord({ ...run, completedAt: run.completedAt ?? now }, days)
      })
    },

    async list(caller: Caller, query: RunQuery): Promise<RunPage> {
      const { limit = pageDefault, cursor, dataset, series, state } = query
      const days = await daysOf(caller.tenantId)
      const beforeId = cursor === undefined ? undefined : readIdCursor(cursor, isId)
      const isComplete = state === undefined ? undefined : state === 'COMPLETE'
      const filter = { beforeId, dataset, series, isComplete, limit }
      const db = cells.forId(caller.tenantId)
      const { rows, more } = await runStore.list(db, caller, keptAt(clock.now(), days), filter)
      const last = rows.at(-1)
      const items = rows.map((run) => toRecord(run, days))
      return { items, count: items.length, nextCursor: more && last ? writeCursor(last.id) : null }
    },

    async get(caller: Caller, id: string): Promise<RunRecord> {
      const { run, days } = await find(caller, id)
      return toRecord(run, days)
    },

    /** Also for runs that are past their time and wait for the purge. */
    async delete(caller: Caller, id: string): Promise<void> {
      const deleted = isId(id) ? await runStore.delete(cells.forId(caller.tenantId), caller, id) : 0
      if (deleted === 0) throw unknownRun()
    },

    async hits(caller: Caller, id: string, query: HitQuery): Promise<RunHitPage> {
      const { since, limit = pageMax, cursor } = query
      const run = await findComplete(caller, id)
      const earlier = since === undefined ? undefined : await findComplete(caller, since)
      if (earlier && earlier.dataset !== run.dataset) {
        throw conflict(`The runs are of different datasets: ${earlier.dataset} and ${run.dataset}`)
      }
      const after = cursor === undefined ? FIRST : readCursor(cursor, toPosition)
      const db = cells.forId(caller.tenantId)
      // Reads one more row than asked for, to know whether another page follows.
      const asked = { id, after, limit: limit + 1 }
      const { hits, reached } =
        since === undefined
          ? { hits: await runStore.hits(db, caller, asked), reached: null }
          : await comparisons.withSlotWithin(caller.tenantId, COMPARISON_WAIT, () =>
              runStore.differences(db, caller, { ...asked, since }),
            )
      const page = hits.slice(0, limit)
      const items = page.map((hit) => toHit(hit, since !== undefined))
      const last = hits.length > limit ? page.at(-1) : reached
      const nextCursor = last ? writeCursor(keyText(last.rowKey), keyText(last.entityKey)) : null
      return { items, count: items.length, nextCursor }
    },

    /** Checked before the file is read. */
    async beginPart(caller: Caller, part: { id: string; part: number; dataset: string }): Promise<RunPart> {
      if (caller.keyId === undefined) throw new AppError('unauthenticated', 'MISSING_API_KEY', 'A run needs an API key')
      if ((await daysOf(caller.tenantId)) === 0) throw notKept()
      const { run } = await find(caller, part.id)
      checkOpen(run)
      if (run.dataset !== part.dataset) throw conflict(`The run is of the dataset ${run.dataset}`)
      return {
        hitKey: await hitKeyOf(caller),
        check: (checked) => checkAlike(run, checked),
        async store(rows, answers, checked) {
          const hits = readHits(answers.flatMap((answer) => answer.hits ?? []))
          await cells.forId(caller.tenantId).transaction(async (tx) => {
            const locked = await runStore.lock(tx, caller, part.id)
            if (!locked) throw unknownRun()
            checkOpen(locked)
            checkAlike(locked, checked)
            const stored = { runId: part.id, number: part.part, rows, ...checked, hits }
            if ((await runStore.storePart(tx, caller, stored)) > RUN_LIMITS.hits) throw tooManyHits()
          })
        },
      }
    },

    /** Deletes what is past its time, by each tenant's setting as it is now. */
    async purge(db: Db, now: Date): Promise<number> {
      let purged = 0
      let failed = 0
      for (const tenantId of await runStore.tenants(db)) {
        try {
          const kept = keptAt(now, await daysOf(tenantId))
          purged += await purgeInBatches(PURGE_BATCH, (limit) => runStore.purge(db, tenantId, kept, limit))
        } catch (err) {
          // One tenant's settings that cannot be read must not keep the runs of all others.
          log.error({ err, tenantId }, 'the runs of a tenant could not be purged')
          failed += 1
        }
      }
      if (failed > 0) throw new Error(`the runs of ${failed} tenants could not be purged`)
      return purged
    },
  }
}
export type RunService = ReturnType<typeof createRunService>

interface RunQuery {
  limit?: number
  cursor?: string
  dataset?: string
  series?: string
  state?: RunState
}

interface HitQuery {
  since?: string
  limit?: number
  cursor?: string
}

const NOTHING_YET = { version: null, scorerVersion: null, threshold: null, partRows: [], hits: 0, completedAt: null }

function checkOpen({ completedAt }: StoredRun): void {
  if (completedAt) throw conflict('The run is complete: begin a new one')
}

function checkAlike(run: StoredRun, { version, scorerVersion, threshold }: Checked): void {
  if (run.version === null) return
  if (run.version !== version) throw conflict(`The run is of the version ${run.version}: send it as \`version\``)
  if (run.threshold !== threshold) throw conflict(`The run has the threshold ${run.threshold}`)
  if (run.scorerVersion !== scorerVersion) throw conflict('The matching rules have changed since the first part')
}

function toRecord(run: StoredRun, days: number): RunRecord {
  const { partRows, startedAt, completedAt } = run
  const arrived = partRows.filter((rows) => rows !== null)
  const deletedMs = completedAt ? completedAt.getTime() + days * DAY_MS : startedAt.getTime() + OPEN_MS
  return {
    id: run.id,
    state: completedAt ? 'COMPLETE' : 'OPEN',
    dataset: run.dataset,
    series: run.series,
    version: run.version,
    scorerVersion: run.scorerVersion,
    scoreThreshold: run.threshold,
    parts: arrived.length,
    rows: arrived.reduce((sum, rows) => sum + rows, 0),
    hits: run.hits,
    startedAt: startedAt.toISOString(),
    completedAt: completedAt?.toISOString() ?? null,
    deletedAt: new Date(deletedMs).toISOString(),
  }
}

function toHit({ rowKey, entityKey, score, earlierScore }: StoredHit, isCompared: boolean): RunHit {
  const toScore = (stored: number | null) => (stored === null ? null : hitScore(stored))
  const change: HitChange = score === null ? 'gone' : earlierScore === null ? 'new' : 'changed'
  return {
    rowKey: keyText(rowKey),
    entityKey: keyText(entityKey),
    score: toScore(score),
    ...(isCompared && { change, earlierScore: toScore(earlierScore) }),
  }
}

function toPosition(parts: readonly string[]): HitPosition | undefined {
  const [rowKey, entityKey] = parts.map((part) => Buffer.from(part, 'base64url'))
  return parts.length === 2 && rowKey?.length === KEY_BYTES && entityKey?.length === KEY_BYTES
    ? { rowKey, entityKey }
    : undefined
}

const unknownRun = () => new AppError('not_found', 'NOT_FOUND', 'There is no run with this id')
const conflict = (message: string) => new AppError('conflict', 'RUN_CONFLICT', message)
const notKept = () =>
  new AppError('conflict', 'RUNS_NOT_KEPT', 'This tenant keeps no runs: the operator sets screeningRunDays')
