export type { Ending, EndRequest } from './ending.ts'
export { type AgeRequest, readSimulatedOutcome, type SimulatedOutcome } from './request.ts'
export { type AgeRoom, createAgeRoom } from './room.ts'
export { type AgeProgress, type AgeSession, ageSessionsIn } from './session.ts'
