/** What the reference shows for one operation. */
export interface OperationExamples {
  /** Bodies that can be sent as they stand. Those of areas C and D earn no `X-Config-Warning`. */
  request?: NamedExamples
  /** Bodies of answers, by status. */
  replies?: Readonly<Record<number, NamedExamples>>
}

/** Each by a sentence that says what it shows. */
export type NamedExamples = Readonly<Record<string, unknown>>

/** Of one invented session. The examples of different operations fit together. */
export const EXAMPLE_SESSION = {
  sessionId: '079b6adf-c487-8e40-b939-1119c179a04f',
  launchUrl: 'https://ostiary.example/launch/?sessionId=079b6adf-c487-8e40-b939-1119c179a04f',
  createdAt: '2026-11-15T10:02:00.257Z',
  endedAt: '2026-11-15T10:02:17.201Z',
  expiresAt: '2026-11-15T10:17:00.257Z',
  code: 'rC7hQ0sXw5Jm2Kd9TzB4uVnE1yLpGf3o',
} as const
