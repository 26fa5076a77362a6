import { type Queryable, sql } from '../platform/db.ts'
import type { Declared } from './declaration.ts'
import type { FaceModel } from './models.ts'

export interface DeclaredRow extends FaceModel {
  tenantId: string
  declarationId: string
  createdAt: Date
}

const COLUMNS = `tenant_id as "tenantId", name as version, model_id as "declarationId", dimension, identify_min as "identifyMin",
  identify_min as "duplicateMin", slope, near_min as "nearMin", consistent_min as "consistentMin", replay_min as "replayMin",
  created_at as "createdAt"`
const ONE = 'tenant_id = $1 and name = $2'

const LIST = sql('faces.list_models', `select ${COLUMNS} from face_models where tenant_id = any($1) order by name`)
const INSERT = sql(
  'faces.insert_model',
  `insert into face_models (tenant_id, name, model_id, dimension, identify_min, slope, near_min, consistent_min, replay_min, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
)
const HOLD = sql('faces.hold_model', `select 1 as found from face_models where ${ONE} and model_id = $3 for key share`)
const LOCK = sql('faces.lock_model', `select 1 as found from face_models where ${ONE} for update`)
const LOCK_SPACES = sql(
  'faces.lock_spaces_of_model',
  'select 1 as found from face_spaces where tenant_id = $1 and version = $2 order by livemode for update',
)
const IS_IN_USE = sql(
  'faces.is_model_in_use',
  `select exists (select 1 from face_templates where tenant_id = $1 and livemode in (true, false) and version = $2) as "isInUse"`,
)
const DELETE_SPACES = sql(
  'faces.delete_spaces_of_model',
  'delete from face_spaces where tenant_id = $1 and version = $2',
)
const DELETE = sql('faces.delete_model', `delete from face_models where ${ONE}`)

export const declaredModelStore = {
  list: (db: Queryable, tenantIds: readonly string[]): Promise<DeclaredRow[]> => db.rows(LIST, [tenantIds]),

  /** False when the tenant has a model of this name. */
  async insert(
    db: Queryable,
    tenantId: string,
    model: Declared & { declarationId: string; createdAt: Date },
  ): Promise<boolean> {
    const { version, declarationId, dimension, identifyMin, slope, nearMin, consistentMin, replayMin, createdAt } =
      model
    const numbers = [dimension, identifyMin, slope, nearMin, consistentMin, replayMin]
    return (await db.run(INSERT, [tenantId, version, declarationId, ...numbers, createdAt])) === 1
  },

  /** Whether this declaration is still there. If so, it cannot be removed before the transaction ends. */
  async hold(tx: Queryable, tenantId: string, name: string, declarationId: string): Promise<boolean> {
    return (await tx.rows(HOLD, [tenantId, name, declarationId])).length > 0
  },

  async lock(tx: Queryable, tenantId: string, name: string): Promise<boolean> {
    return (await tx.rows(LOCK, [tenantId, name])).length > 0
  },

  /** Whether a vector of this model is stored, live or test. Nobody is enrolled in it before the transaction ends. */
  async isInUse(tx: Queryable, tenantId: string, name: string): Promise<boolean> {
    await tx.rows(LOCK_SPACES, [tenantId, name])
    const [row] = await tx.rows<{ isInUse: boolean }>(IS_IN_USE, [tenantId, name])
    return row?.isInUse !== false
  },

  async delete(tx: Queryable, tenantId: string, name: string): Promise<void> {
    await tx.run(DELETE_SPACES, [tenantId, name])
    await tx.run(DELETE, [tenantId, name])
  },
}
