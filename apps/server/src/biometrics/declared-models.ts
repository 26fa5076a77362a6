import { NODE_LIMITS } from '@ostiary/contract'
import { createFactsCache } from '../keys/index.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { bucketOf } from '../platform/ids.ts'
import type { Platform } from '../platform/platform.ts'
import { type Declaration, type Declared, isSame, readDeclaration } from './declaration.ts'
import { type DeclaredRow, declaredModelStore } from './declared-model-store.ts'
import { nodeError } from './errors.ts'
import { type FaceModel, findBuiltIn } from './models.ts'

export type { Declaration } from './declaration.ts'

type Deps = Pick<Platform, 'cells' | 'clock' | 'ids' | 'log'>

/** A declared model as the operator sees it. */
export interface ModelRecord {
  name: string
  tenant_id: string
  length: number
  threshold: number
  slope: number
  near: number
  consistent: number
  replay: number
  when_created: string
}

/** The models of a tenant: those that every tenant has, and those that it has declared, for live and test data alike. */
export function createDeclaredModels({ cells, clock, ids, log }: Deps) {
  // At most five seconds old, as with API keys.
  const cache = createFactsCache<readonly DeclaredRow[]>({
    cells,
    clock,
    log,
    async find(db, tenantIds) {
      const found = Map.groupBy(await declaredModelStore.list(db, tenantIds), ({ tenantId }) => tenantId)
      // Most tenants have none. They have an entry too, so that names that nobody declared cost no query each.
      return new Map(tenantIds.map((tenantId) => [tenantId, found.get(tenantId) ?? []]))
    },
  })

  return {
    /** The model of this name; throws when the tenant has none. A model of another tenant is as unknown as one that is nowhere. */
    async find(tenantId: string, version: string): Promise<FaceModel> {
      const builtIn = findBuiltIn(version)
      if (builtIn) return builtIn
      const known = cache.peek(tenantId)
      const models = known ? known.facts : await cache.load(tenantId, bucketOf(tenantId))
      const model = models?.find((one) => one.version === version)
      if (!model) throw nodeError('NODE_VERSION_UNKNOWN')
      return model
    },

    /** Declares a model. To declare the same again changes nothing. */
    async declare(tenantId: string, declaration: Declaration): Promise<{ model: ModelRecord; isNew: boolean }> {
      const wanted = readDeclaration(declaration)
      const db = cells.forId(tenantId)
      const models = await declaredModelStore.list(db, [tenantId])
      const known = models.find(({ version }) => version === wanted.version)
      if (known) return { model: toRecord(sameOrRefused(known, wanted)), isNew: false }
      if (models.length >= NODE_LIMITS.declaredModels) {
        throw invalid('/name', `would be one too many: a tenant declares at most ${NODE_LIMITS.declaredModels} models`)
      }
      const row = { ...wanted, tenantId, declarationId: ids.next(bucketOf(tenantId)), createdAt: clock.now() }
      if (!(await declaredModelStore.insert(db, tenantId, row))) throw invalid('/name', 'was declared at this moment')
      return { model: toRecord(row), isNew: true }
    },

    async list(tenantId: string): Promise<ModelRecord[]> {
      return (await declaredModelStore.list(cells.forId(tenantId), [tenantId])).map(toRecord)
    },

    /** Removes a model that nobody is enrolled in. */
    remove: (tenantId: string, name: string): Promise<void> =>
      cells.forId(tenantId).transaction(async (tx) => {
        if (!(await declaredModelStore.lock(tx, tenantId, name))) throw unknownModel()
        if (await declaredModelStore.isInUse(tx, tenantId, name)) {
          throw invalid('/name', 'is in use: delete the people who are enrolled in it first, live and test')
        }
        await declaredModelStore.delete(tx, tenantId, name)
      }),
  }
}
export type DeclaredModels = ReturnType<typeof createDeclaredModels>

function sameOrRefused(known: DeclaredRow, wanted: Declared): DeclaredRow {
  if (isSame(known, wanted)) return known
  throw invalid('/name', 'is declared with other values, and a declared model never changes: take another name')
}

function toRecord(model: DeclaredRow): ModelRecord {
  return {
    name: model.version,
    tenant_id: model.tenantId,
    length: model.dimension,
    threshold: model.identifyMin,
    slope: model.slope,
    near: model.nearMin,
    consistent: model.consistentMin,
    replay: model.replayMin,
    when_created: model.createdAt.toISOString(),
  }
}

function unknownModel(): AppError {
  return new AppError('not_found', 'NOT_FOUND', 'There is no such model')
}
