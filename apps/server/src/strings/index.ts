export { createStringsRoom } from './room.ts'
