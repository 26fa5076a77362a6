export type { Ending, EndingWish } from './ending.ts'
export { type AgeRequest, readWish, type SandboxWish } from './request.ts'
export { type AgeRoom, createAgeRoom } from './room.ts'
