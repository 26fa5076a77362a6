import { NODE_LIMITS } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { bucketOf } from '../platform/ids.ts'
import type { WithLock } from '../platform/keyed-mutex.ts'
import type { Platform } from '../platform/platform.ts'
import { declaredModelStore } from './declared-model-store.ts'
import { nodeError } from './errors.ts'
import type { GroupId, GroupKeys } from './group-keys.ts'
import type { Groups } from './groups.ts'
import { type NodeMetrics, type Spend, timeSearch } from './metrics.ts'
import { type FaceModel, scoreOf } from './models.ts'
import { nearbyOf } from './nearby.ts'
import { enrollLevelOf, isGood, judge } from './quality.ts'
import { faceStore, type Neighbour, SHARED_PARTITIONS, type SpaceId } from './store.ts'
import { middleOf, toBytes, toHalfvec } from './vector.ts'
import { vectorStore } from './vector-store.ts'

const RETRY_DELAYS_MS = [200, 1_000]
const GIVE_UP_AFTER_MS = 10_000

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'ids' | 'log'> {
  groups: Groups
  metrics: NodeMetrics
  withLock: WithLock
}

export interface EnrolRequest {
  model: FaceModel
  /** Of length 1 each, with as many entries as the model has. */
  vectors: readonly Float64Array[]
  /** The caller's own name for the person. */
  externalId?: string | undefined
  /**
   * `bind`: a free name is bound to the person who has the face; a person with this name who is enrolled only in another model
   * version is enrolled in this one too. `new_only`: a name is bound only to a new person, and a name in use is refused.
   */
  names?: 'bind' | 'new_only' | undefined
  /** Id for the person if a new one is created. A repeated request with the same id gets the answer "new" again. */
  personId?: string | undefined
  spend?: Spend | undefined
}

export interface Enrolled {
  personId: string
  guid: string
  enrollLevel: number
  score: number
  isNew: boolean
}

/**
 * Gets the people that the answer will tell something about: the one who has the face, or whom it just misses. Called before anything is
 * stored or answered, and again by another attempt. What it throws as a refusal ends the enrolment.
 */
type OnCompared = (nearby: readonly string[]) => Promise<void>

/** Everything one enrolment needs; the same for each of its attempts. */
interface Job {
  model: FaceModel
  space: SpaceId
  keys: GroupKeys
  /** The id of the person if this job creates one. A repeated attempt recognises by it what an earlier one committed. */
  personId: string
  good: readonly Float64Array[]
  probe: Buffer
  externalRef: Buffer | undefined
  names: 'bind' | 'new_only'
  giveUpAtMs: number
  onCompared: OnCompared
  spend: Spend | undefined
}

export function createEnrolment({ cells, clock, ids, log, groups, metrics, withLock }: Deps) {
  /** Drops bad vectors; refuses a request that has no good one. */
  function filter({ model, vectors }: EnrolRequest): Float64Array[] {
    const judged = judge(vectors, model)
    for (const one of judged) if (!isGood(one)) metrics.filtered.count(one.reason)
    const good = judged.filter(isGood).map(({ vector }) => vector)
    if (good.length === 0) {
      const disagree = judged.some(({ reason }) => reason === 'disagrees')
      throw nodeError('NODE_ENROLL_REFUSED', disagree ? 'the features are not of one person' : 'no feature is usable')
    }
    return good
  }

  /**
   * One attempt. It searches without a lock first, which finds most duplicates. Only a face that seems new takes the lock
   * of the space, and is compared there with the vectors that were added since the search.
   */
  async function attempt(job: Job): Promise<Enrolled> {
    const { model, space, probe } = job
    const db = cells.forId(space.tenantId)
    const wanted = { embedding: probe, limit: 1, enough: model.duplicateMin, near: model.nearMin }
    const seen = await timeSearch(metrics, {
      ...{ purpose: 'enroll', db, spend: job.spend },
      search: (on) => vectorStore.search(on, space, wanted),
    })
    await job.onCompared(nearbyOf(model, seen?.neighbours ?? []))
    const known = seen?.neighbours.find((neighbour) => isDuplicate(model, neighbour))
    if (known) return existing(db, job, known)
    if (!seen) await faceStore.insertSpace(db, space, bucketOf(space.tenantId) % SHARED_PARTITIONS)
    return withLock(lockKeyOf(space), async () => {
      // The request has failed or is about to: do not enrol a person whose caller gets an error.
      if (clock.monotonicMs() > job.giveUpAtMs) throw new Error('The lock was granted too late')
      return db.transaction((tx) => enrolLocked(tx, job, seen?.lastSeq ?? 0))
    })
  }

  async function enrolLocked(tx: Queryable, job: Job, afterSeq: number): Promise<Enrolled> {
    const { model, space, keys, probe, good, externalRef } = job
    await holdDeclaration(tx, space, model)
    const { partition, lastSeq } = await faceStore.lockSpace(tx, space)
    const added = await vectorStore.searchSince(tx, space, { embedding: probe, afterSeq })
    if (added && isDuplicate(model, added)) return existing(tx, job, added)
    const owner = externalRef && (await faceStore.lockByRef(tx, space, externalRef))
    if (owner && job.names === 'new_only' && owner.personId !== job.personId) throw nameTaken()
    if (owner) await refuseSecondFace(tx, space, owner.personId)
    const personId = owner?.personId ?? job.personId
    const wrappedKey = owner?.wrappedKey ?? keys.newPersonKey(personId)
    if (!owner) {
      const person = { personId, wrappedKey, externalRef: externalRef ?? null }
      await faceStore.insertPerson(tx, space, person, clock.now())
    }
    const enrollLevel = enrollLevelOf(good.length)
    const rotate = keys.rotation(space.version)
    for (const [index, vector] of good.entries()) {
      const seq = lastSeq + 1 + index
      const sealedVector = keys.sealTemplate(wrappedKey, { personId, version: space.version, seq }, toBytes(vector))
      await faceStore.insertTemplate(tx, space, { personId, enrollLevel }, { seq, sealedVector })
      const embedding = toHalfvec(rotate(vector))
      await vectorStore.insert(tx, space, { partition, personId, enrollLevel }, { seq, embedding })
    }
    await faceStore.growSpace(tx, space, good.length)
    return { personId, guid: keys.guid, enrollLevel, score: 1, isNew: true }
  }

  /** The person is already enrolled. A free name is bound to them; nothing else changes. */
  async function existing(db: Queryable, job: Job, { personId, enrollLevel, cosine }: Neighbour): Promise<Enrolled> {
    if (personId !== job.personId && job.externalRef && job.names === 'bind') {
      await faceStore.bindRef(db, job.space, personId, job.externalRef)
    }
    const score = scoreOf(job.model, cosine)
    const isNew = personId === job.personId
    return { personId, guid: job.keys.guid, enrollLevel, score, isNew }
  }

  /** What an earlier attempt of this job committed before its answer was lost. */
  async function ownWork({ space, keys, personId, good }: Job): Promise<Enrolled | undefined> {
    const [found] = await faceStore.findTemplateSeqs(cells.forId(space.tenantId), space, personId)
    const enrollLevel = enrollLevelOf(good.length)
    return found && { personId, guid: keys.guid, enrollLevel, score: 1, isNew: true }
  }

  /** Retries faults that may pass, such as a lost connection or a deadlock. Faults of the caller are not retried. */
  async function run(prepared: () => Promise<Job>, { tenantId }: GroupId, giveUpAtMs: number): Promise<Enrolled> {
    for (let tried = 1; ; tried++) {
      try {
        const job = await prepared()
        return (tried > 1 && (await ownWork(job))) || (await attempt(job))
      } catch (error) {
        if (isRefusal(error)) throw error
        metrics.retries.count(String(tried))
        log.warn({ err: error, tenantId, count: tried }, 'enrolment attempt failed')
        const delayMs = RETRY_DELAYS_MS[tried - 1] ?? 0
        const late = clock.monotonicMs() + delayMs > giveUpAtMs
        if (tried >= NODE_LIMITS.enrolAttempts || late) throw nodeError('NODE_ENROLL_FAILED', undefined, error)
        await new Promise((resolve) => setTimeout(resolve, delayMs))
      }
    }
  }

  return {
    enrolWithoutVector,

    /** Enrols a face, or returns the person who has it. */
    async enrol(group: GroupId, request: EnrolRequest, onCompared: OnCompared = async () => {}): Promise<Enrolled> {
      try {
        const good = filter(request)
        const personId = request.personId ?? ids.next(bucketOf(group.tenantId))
        const giveUpAtMs = clock.monotonicMs() + GIVE_UP_AFTER_MS
        const own = { personId, good, giveUpAtMs, onCompared }
        const enrolled = await run(() => prepare(group, request, own), group, giveUpAtMs)
        metrics.enrolments.count(enrolled.isNew ? 'new' : 'existing')
        return enrolled
      } catch (error) {
        metrics.enrolments.count(isRefusal(error) ? 'refused' : 'failed')
        throw error
      }
    },
  }

  /**
   * A person of whom this area stores no vector: another room recognises them, and stores what it needs in the same transaction. Undefined,
   * and nothing is stored, if `andStore` returns false or the name is another person's.
   */
  async function enrolWithoutVector(
    group: GroupId,
    { personId, externalId }: { personId: string; externalId?: string | undefined },
    andStore: (tx: Queryable) => Promise<boolean>,
  ): Promise<{ guid: string } | undefined> {
    const keys = await groups.findOrCreate(group)
    const externalRef = externalId === undefined ? null : keys.externalRef(externalId)
    const stored = await cells
      .forId(group.tenantId)
      .transaction(async (tx) => {
        const owner = externalRef && (await faceStore.lockByRef(tx, group, externalRef))
        if (owner && owner.personId !== personId) return false
        if (!(await faceStore.holdPerson(tx, group, personId))) {
          const wrappedKey = keys.newPersonKey(personId)
          await faceStore.insertPerson(tx, group, { personId, wrappedKey, externalRef }, clock.now())
        }
        if (await andStore(tx)) return true
        throw new NotStored()
      })
      .catch((error: unknown) => {
        if (error instanceof NotStored) return false
        throw error
      })
    return stored ? { guid: keys.guid } : undefined
  }

  async function prepare(
    group: GroupId,
    request: EnrolRequest,
    own: Pick<Job, 'personId' | 'good' | 'giveUpAtMs' | 'onCompared'>,
  ): Promise<Job> {
    const { model, externalId } = request
    const space = { tenantId: group.tenantId, livemode: group.livemode, version: model.version }
    const keys = await groups.findOrCreate(space)
    return {
      model,
      space,
      keys,
      ...own,
      probe: toHalfvec(keys.rotation(space.version)(middleOf(own.good))),
      externalRef: externalId === undefined ? undefined : keys.externalRef(externalId),
      names: request.names ?? 'bind',
      spend: request.spend,
    }
  }
}
/** Rolls the transaction back. */
class NotStored extends Error {}

export type Enrolment = ReturnType<typeof createEnrolment>

/** Enrolments and deletions of a group share one lock, because both lock the rows of its spaces. */
export function lockKeyOf({ tenantId, livemode }: GroupId): string {
  return `${tenantId}/${livemode}`
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.fault === 'invalid_request' || error.fault === 'rate_limited')
}

function isDuplicate({ duplicateMin }: FaceModel, { cosine }: Neighbour): boolean {
  return cosine >= duplicateMin
}

/**
 * A process may know a declaration for some seconds after it was removed, or after its name was declared again for another model. Nobody is
 * enrolled by it then. It is locked before the space, as its removal does.
 */
async function holdDeclaration(tx: Queryable, { tenantId }: SpaceId, { version, declarationId }: FaceModel) {
  if (declarationId === undefined) return
  if (!(await declaredModelStore.hold(tx, tenantId, version, declarationId))) throw nodeError('NODE_VERSION_UNKNOWN')
}

/** A name stands for one face per model version. A person enrolled in another version may be enrolled in this one too. */
async function refuseSecondFace(tx: Queryable, space: SpaceId, personId: string): Promise<void> {
  const templates = await faceStore.findTemplateSeqs(tx, space, personId)
  if (templates.some(({ version }) => version === space.version)) {
    throw nameTaken()
  }
}

const nameTaken = () => nodeError('NODE_ENROLL_REFUSED', 'metadata.id is bound to another face')
