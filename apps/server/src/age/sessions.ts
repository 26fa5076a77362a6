import { type Sessions, sessionsOfArea } from '../sessions/index.ts'
import type { AgeRequest } from './request.ts'
import type { AgeProgress } from './session.ts'

export const ageSessionsIn = (sessions: Sessions) => sessionsOfArea<AgeRequest, AgeProgress>(sessions, 'age')
export type AgeSessions = ReturnType<typeof ageSessionsIn>
