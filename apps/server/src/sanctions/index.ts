export type { BuildProgress } from './datasets/build-main.ts'
export { createEnabler, type Enabler, type FoundSource, type ListPlace } from './datasets/enable.ts'
export { createDatasetFiles, type DatasetFiles, type DatasetId } from './datasets/files.ts'
export {
  createImporter,
  type DatasetOverview,
  type Importer,
  type ImportOutcome,
  type ImportRequest,
} from './datasets/import.ts'
export {
  DEMO,
  datasetNameProblem,
  describeList,
  endOfList,
  isOpenSanctions,
  LIST_KINDS,
  type ListKind,
} from './datasets/known.ts'
export { PUBLISHED, type PublishedList, publishedLists } from './datasets/published.ts'
export { createRefresher } from './datasets/refresh.ts'
export { LIST_FORMATS, type ListFormat } from './lists/read-list.ts'
export { createSanctionsRoom } from './room.ts'
