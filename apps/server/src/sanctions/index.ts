export type { BuildProgress } from './datasets/build-main.ts'
export { createDatasetFiles, type DatasetFiles, type DatasetId } from './datasets/files.ts'
export {
  createImporter,
  type DatasetOverview,
  type Importer,
  type ImportOutcome,
  type ImportRequest,
} from './datasets/import.ts'
export { datasetNameProblem, isOpenSanctions, LIST_KINDS, type ListKind } from './datasets/known.ts'
export { LIST_FORMATS, type ListFormat } from './lists/read-list.ts'
export { createSanctionsRoom } from './room.ts'
