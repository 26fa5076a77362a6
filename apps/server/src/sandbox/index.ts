export { createSandboxRoom } from './room.ts'
