/**
 * The names and versions of area E. The SDK imports this file by itself (`@ostiary/contract/node-versions`), so it must not import the
 * validator.
 */

/** Every path of area E begins with this. */
export const NODE_PREFIX = '/node'

/** The face models that every tenant has. Vectors of different models are never compared. */
export const FACE_MODELS = {
  FACE3_1: { dimension: 128 },
  FACE3_3: { dimension: 512 },
} as const
export type BuiltInVersion = keyof typeof FACE_MODELS
export const BUILT_IN_VERSIONS = Object.keys(FACE_MODELS) as BuiltInVersion[]

/** A built-in version, or the name of a model that the tenant has declared (`ostiary node models declare`). */
export type ModelVersion = BuiltInVersion | (string & Record<never, never>)
export const MODEL_NAME_CHARS = 32
export const MODEL_VERSION_PATTERN = `^[A-Za-z0-9_]{1,${MODEL_NAME_CHARS}}$`
/** No declared model begins like this, in any case: such names are for models of later releases. */
export const RESERVED_MODEL_PREFIX = 'FACE3_'

/** Used where the path names no version. */
export const DEFAULT_PATH_VERSION: BuiltInVersion = 'FACE3_1'
/** Used by the plain endpoints where the body names no version. */
export const DEFAULT_PLAIN_VERSION: BuiltInVersion = 'FACE3_3'
export const ENCRYPTION_VERSION = 1
