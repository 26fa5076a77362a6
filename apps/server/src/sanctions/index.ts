export type { BuildProgress } from './datasets/build-main.ts'
export { ensureDemo } from './datasets/demo.ts'
export { createDatasetFiles, type DatasetFiles, type DatasetId } from './datasets/files.ts'
export {
  createImporter,
  type DatasetOverview,
  type Importer,
  type ImportOutcome,
  type ImportRequest,
} from './datasets/import.ts'
export { datasetNameProblem, isOpenSanctions, LIST_KINDS, type ListKind } from './datasets/known.ts'
export { createLibrary } from './datasets/library.ts'
export { createRefresher, type Refresher } from './datasets/refresh.ts'
export { createPool } from './engine/pool.ts'
export {
  type AppliedException,
  createExceptionService,
  digestPerson,
  type ExceptionService,
  purgeOldExceptions,
  type RowExceptions,
} from './exceptions.ts'
export { exceptionRoutes } from './exceptions-routes.ts'
export { LIST_FORMATS, type ListFormat } from './lists/read-list.ts'
export { createSanctionsMetrics } from './metrics.ts'
export { sanctionsRoutes } from './routes.ts'
export { createSanctionsService } from './service.ts'
