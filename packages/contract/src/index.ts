import { checkNodeKey, nodeDeleteUser, nodeEnroll, nodePlainEnroll, nodePlainPredict, nodePredict } from './node.ts'
import type { Operation } from './operation.ts'
import { listDatasets, screenFile } from './sanctions.ts'
import { createException, deleteException, listExceptions } from './sanctions-exceptions.ts'
import { describeService, getHealth, getLivez, getOpenApi, getReadyz } from './service.ts'
import { createString, deleteString, getString, listStrings } from './strings.ts'

export * from './errors.ts'
export * from './keys.ts'
export * from './limits.ts'
export * from './node.ts'
export * from './node-errors.ts'
export * from './openapi.ts'
export * from './operation.ts'
export * from './sanctions.ts'
export * from './sanctions-exceptions.ts'
export * from './service.ts'
export * from './strings.ts'

export const VERSION = '0.1.0'

/** Every operation of the wire, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  describeService,
  getHealth,
  createString,
  listStrings,
  getString,
  deleteString,
  screenFile,
  listDatasets,
  createException,
  listExceptions,
  deleteException,
  checkNodeKey,
  nodeEnroll,
  nodePlainEnroll,
  nodePredict,
  nodePlainPredict,
  nodeDeleteUser,
  getLivez,
  getReadyz,
  getOpenApi,
]
