import type { ModelVersion } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import { isId } from '../platform/ids.ts'
import type { WithLock } from '../platform/keyed-mutex.ts'
import type { Platform } from '../platform/platform.ts'
import type { RateLimiter } from '../platform/rate-limit.ts'
import { lockKeyOf } from './enrolment.ts'
import { nodeError } from './errors.ts'
import type { GroupId, GroupKeys } from './group-keys.ts'
import type { Groups } from './groups.ts'
import { hitStore } from './hit-store.ts'
import { type NodeMetrics, type Spend, timeSearch } from './metrics.ts'
import { type FaceModel, scoreOf } from './models.ts'
import { nearbyOf } from './nearby.ts'
import { faceStore, type Neighbour, partitionTable, type SpaceId } from './store.ts'
import { middleOf, toHalfvec } from './vector.ts'
import { vectorStore } from './vector-store.ts'

// How many vectors a search fetches to find K persons, who have at most ten vectors each.
const BREADTHS = [1, 50, 500] as const
const VECTORS_PER_PERSON = 10
const ALARM_EVERY_SECONDS = 600
const DELETE_ATTEMPTS = 3
// Deadlock and serialisation failure: the transaction can be tried again.
const TRY_AGAIN = new Set(['40P01', '40001'])

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'log'> {
  limiter: RateLimiter
  failureLimits: FailureLimits
  groups: Groups
  metrics: NodeMetrics
  withLock: WithLock
  /** Deletes what other rooms keep of the person, in the transaction that has locked and deletes the person. */
  onErase: (tx: Queryable, group: GroupId, personId: string) => Promise<void>
}

type IsWanted = (tx: Queryable) => Promise<boolean>

export interface PredictRequest {
  model: FaceModel
  /** Each of length 1, with as many entries as the model has; several are averaged. */
  vectors: readonly Float64Array[]
  candidates: number
  userIdentifier?: string | undefined
  spend?: Spend | undefined
}

export interface Candidate {
  puid: string
  guid: string
  enrollLevel: number
  score: number
  /** The probe is the enrolled vector itself, or differs from it by less than two captures do. */
  isReplay: boolean
}

export interface Recognised {
  /** Above the threshold, best first; empty when the person is not enrolled. */
  candidates: Candidate[]
  /** The people that the answer tells something about: the candidates, and those whom the probe just missed. */
  nearby: string[]
}

export function createRecognition(deps: Deps) {
  const { cells, clock, log, limiter, failureLimits, groups, metrics, withLock, onErase } = deps

  async function neighboursOf(space: SpaceId, keys: GroupKeys, request: PredictRequest): Promise<Neighbour[]> {
    const embedding = toHalfvec(keys.rotation(space.version)(middleOf(request.vectors)))
    if (request.userIdentifier !== undefined) return compareWithOne(space, keys, request, embedding)
    const wanted = request.candidates === 1 ? 1 : request.candidates * VECTORS_PER_PERSON
    const limit = BREADTHS.find((breadth) => breadth >= wanted) ?? 500
    const { identifyMin: enough, nearMin: near } = request.model
    const found = await timeSearch(deps.metrics, {
      ...{ purpose: 'predict', db: cells.forId(space.tenantId), spend: request.spend },
      search: (on) => vectorStore.search(on, space, { embedding, limit, enough, near }),
    })
    return found?.neighbours ?? []
  }

  /** Compares 1:1. The identifier is a puid or the caller's own name. If it is the puid of one person and the name of another, either may match. */
  async function compareWithOne(
    space: SpaceId,
    keys: GroupKeys,
    { userIdentifier: identifier = '', spend }: PredictRequest,
    embedding: Buffer,
  ): Promise<Neighbour[]> {
    const db = cells.forId(space.tenantId)
    const personId = isId(identifier) ? identifier : null
    const found: Neighbour[] = []
    for (const person of await faceStore.resolvePerson(db, space, personId, keys.externalRef(identifier))) {
      const templates = await faceStore.findTemplateSeqs(db, space, person)
      const seqs = templates.filter(({ version }) => version === space.version).map(({ seq }) => seq)
      if (seqs.length === 0) continue
      const probe = { embedding, personId: person, seqs }
      const nearest = await timeSearch(deps.metrics, {
        ...{ purpose: 'compare', db, spend },
        search: (on) => vectorStore.compare(on, space, probe),
      })
      if (nearest) found.push(nearest)
    }
    return found.sort((a, b) => b.cosine - a.cosine)
  }

  /** Many unrecognised faces in an hour suggest that someone is trying faces to find enrolled people. */
  function watchProbing(caller: Caller): void {
    const { tenantId, keyId = '' } = caller
    const miss = { limit: 'node-misses', tenantId, against: [{ name: keyId, factor: 1 }] } as const
    failureLimits.countSoon(miss, (count) => raiseProbingAlarm(caller, count))
  }

  function raiseProbingAlarm({ tenantId, keyId, livemode }: Caller, count: number): void {
    metrics.alarms.count(livemode ? 'live' : 'test', count)
    const quiet = limiter.take(
      `probing-log/${keyId}`,
      1 / ALARM_EVERY_SECONDS,
      clock.monotonicMs(),
      ALARM_EVERY_SECONDS,
    )
    if (quiet.allowed) log.warn({ tenantId, keyId, livemode }, 'more than 1,000 unrecognised predictions in an hour')
  }

  async function recognise(caller: Caller, request: PredictRequest): Promise<Recognised> {
    const { tenantId, livemode } = caller
    const space = { tenantId, livemode, version: request.model.version }
    try {
      const keys = await groups.find(space)
      const neighbours = keys ? await neighboursOf(space, keys, request) : []
      const candidates = toCandidates(neighbours, request, keys?.guid ?? '')
      metrics.predictions.count(candidates.length > 0 ? 'recognised' : 'not_enrolled')
      if (candidates.length === 0) watchProbing(caller)
      if (candidates.some(({ isReplay }) => isReplay)) metrics.replays.count(caller.livemode ? 'live' : 'test')
      return { candidates, nearby: nearbyOf(request.model, neighbours) }
    } catch (error) {
      metrics.predictions.count('failed')
      throw nodeError('NODE_PREDICT_FAILED', undefined, error)
    }
  }

  /** Deletes both copies of a person's vectors, of one model version or of all. Returns the tables that are to be vacuumed. */
  async function deleteVectors(
    tx: Queryable,
    group: GroupId,
    personId: string,
    { spaces, only }: { spaces: ReadonlyMap<ModelVersion, number>; only?: ModelVersion },
  ): Promise<Set<string>> {
    const templates = await faceStore.deleteTemplates(tx, group, personId, only)
    const touched = new Set(templates.map(({ table }) => table))
    for (const [version, inVersion] of Map.groupBy(templates, (template) => template.version)) {
      const space: SpaceId = { tenantId: group.tenantId, livemode: group.livemode, version }
      const partition = spaces.get(version) ?? (await faceStore.lockSpace(tx, space)).partition
      const seqs = inVersion.map(({ seq }) => seq)
      const deleted = await vectorStore.delete(tx, space, partition, seqs)
      // A damaged search copy must not prevent the deletion of the person.
      if (deleted !== seqs.length)
        log.error({ tenantId: group.tenantId }, 'a search copy lacked vectors: run ostiary node reindex')
      await faceStore.shrinkSpace(tx, space, seqs.length)
      await faceStore.noteDeletion(tx, space, seqs, clock.now())
      touched.add(partitionTable(partition))
    }
    return touched
  }

  // Locks the spaces first, as enrolment does: transactions that lock in the same order cannot deadlock.
  const lockSpaces = async (tx: Queryable, group: GroupId) =>
    new Map((await faceStore.lockSpaces(tx, group)).map((space) => [space.version, space.partition]))

  async function erase(tx: Queryable, group: GroupId, personId: string, isWanted: IsWanted): Promise<boolean> {
    const spaces = await lockSpaces(tx, group)
    if (!(await faceStore.lockPerson(tx, group, personId)) || !(await isWanted(tx))) return false
    const touched = await deleteVectors(tx, group, personId, { spaces })
    touched.add('face_persons')
    await hitStore.deletePerson(tx, group, personId)
    await onErase(tx, group, personId)
    await faceStore.deletePerson(tx, group, personId)
    await faceStore.markVacuumDue(tx, [...touched], clock.now())
    return true
  }

  async function eraseWithRetries(group: GroupId, personId: string, isWanted: IsWanted): Promise<boolean> {
    for (let tried = 1; ; tried++) {
      try {
        return await cells.forId(group.tenantId).transaction((tx) => erase(tx, group, personId, isWanted))
      } catch (error) {
        const again = error instanceof AppError && TRY_AGAIN.has(String((error.cause as { code?: unknown })?.code))
        if (!again || tried >= DELETE_ATTEMPTS) throw error
      }
    }
  }

  return {
    /** Finds the best candidates, and whom else the answer tells something about. */
    recognise,

    /**
     * Finds an enrolled person by their id or by the host's own name for them. A caller that has a transaction must pass it: many
     * transactions that each wait for a second connection would deadlock on the pool.
     */
    async find(
      { tenantId, livemode }: GroupId,
      by: { puid: string } | { externalId: string },
      db: Queryable = cells.forId(tenantId),
    ): Promise<{ puid: string; guid: string } | undefined> {
      const group = { tenantId, livemode }
      const keys = await groups.find(group, db)
      if (!keys || ('puid' in by && !isId(by.puid))) return undefined
      const [personId, name] = 'puid' in by ? [by.puid, by.puid] : [null, by.externalId]
      const found = await faceStore.resolvePerson(db, group, personId, keys.externalRef(name))
      const puid = 'puid' in by ? found.find((one) => one === by.puid) : found[0]
      return puid === undefined ? undefined : { puid, guid: keys.guid }
    },

    /** Whether the person is enrolled. If so, they cannot be deleted before the transaction ends. */
    hold: ({ tenantId, livemode }: GroupId, personId: string, tx: Queryable): Promise<boolean> =>
      faceStore.holdPerson(tx, { tenantId, livemode }, personId),

    /** Deletes the person's vectors of a model version. The person stays: another room recognises them from now on. */
    async forgetVectors(group: GroupId, personId: string, version: ModelVersion, tx: Queryable): Promise<void> {
      const spaces = await lockSpaces(tx, group)
      const touched = await deleteVectors(tx, group, personId, { spaces, only: version })
      if (touched.size > 0) await faceStore.markVacuumDue(tx, [...touched], clock.now())
    },

    /**
     * Deletes a person and everything that is stored about them, in every model version. Returns false when there is no such
     * person, or when `isWanted` returns false; it is called in the same transaction, after the person is locked.
     */
    async delete(group: GroupId, personId: string, isWanted: IsWanted = async () => true): Promise<boolean> {
      if (!isId(personId)) return false
      const deleted = await withLock(lockKeyOf(group), () => eraseWithRetries(group, personId, isWanted))
      metrics.deletions.count(deleted ? 'deleted' : 'not_found')
      return deleted
    },
  }
}
export type Recognition = ReturnType<typeof createRecognition>

/** Each person's score is that of their best vector. */
function toCandidates(neighbours: readonly Neighbour[], request: PredictRequest, guid: string): Candidate[] {
  const { identifyMin, replayMin } = request.model
  const best = new Map<string, Neighbour>()
  for (const neighbour of neighbours) {
    const enough = neighbour.cosine >= identifyMin
    if (enough && !best.has(neighbour.personId)) best.set(neighbour.personId, neighbour)
  }
  return [...best.values()].slice(0, request.candidates).map(({ personId, enrollLevel, cosine }) => ({
    puid: personId,
    guid,
    enrollLevel,
    score: scoreOf(request.model, cosine),
    isReplay: cosine >= replayMin,
  }))
}
