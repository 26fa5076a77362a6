export { findPageModels, listPageFiles } from './page-files.ts'
export { createLaunchRoom } from './room.ts'
