export type { AskedDocument } from './consistency.ts'
export {
  type DocumentFailure,
  type DocumentJudgement,
  isDocumentFailure,
  judgeDocument,
  type KnownDocument,
  scoreOf,
} from './judge.ts'
export { createDocumentsRoom, type DocumentsRoom } from './room.ts'
export type { Documents } from './service.ts'
export { simulatedRecord } from './simulated-record.ts'
