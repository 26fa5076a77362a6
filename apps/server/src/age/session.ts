import { type Session, type Sessions, sessionsOfArea } from '../sessions/index.ts'
import type { AgeRequest } from './request.ts'

/** What an age session adds to the progress of its flow: the result of the face step. Stored as `face`. */
export interface AgeProgress {
  estimateYears: number
  doubtful: boolean
}

export type AgeSession = Session<AgeRequest, AgeProgress>

export const ageSessionsIn = (sessions: Sessions) => sessionsOfArea<AgeRequest, AgeProgress>(sessions, 'age')
