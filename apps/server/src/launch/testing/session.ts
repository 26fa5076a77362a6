/** A session that is not stored, for tests of the pure functions of this room. Only tests import this. */
import { createSecretKey, randomBytes } from 'node:crypto'
import type { AgeRequest } from '../../age/index.ts'
import type { Progress, Session, SessionState } from '../../sessions/index.ts'

export const NOW = new Date('2026-11-15T12:00:00.000Z')

export function sessionAt<Own = never>(
  state: SessionState,
  request: Partial<AgeRequest> = {},
  progress: Progress<Own> | null = null,
): Session<AgeRequest, Own> {
  const expiresAt = new Date(NOW.getTime() + 900_000)
  return {
    tenantId: '079b6cd9-f993-81a6-95fd-000000000001',
    livemode: false,
    keyId: '079b6cd9-f993-81a6-95fd-000000000002',
    area: 'age',
    sessionId: '079b6cd9-f993-81a6-95fd-62194e74386d',
    createdAt: NOW,
    expiresAt,
    dueAt: expiresAt,
    state,
    tokenHash: Buffer.alloc(32),
    endedAt: null,
    purgeAt: null,
    dataKey: createSecretKey(randomBytes(32)),
    result: null,
    returnTicket: null,
    progress,
    request: { ...REQUEST, ...request },
  }
}

const REQUEST: AgeRequest = {
  token: 'at_test',
  redirectUrl: 'https://shop.example/back',
  ageThreshold: 30,
  documentAgeThreshold: 30,
  faceMatchThreshold: 0.5,
  requirements: ['face'],
  documentAgeReturnFormat: 'threshold',
  facialAgeEstimationReturnFormat: 'threshold',
  stepUpEnabled: false,
  enableDesktop: false,
  locale: null,
  callback: null,
  metadata: {},
  sandbox: null,
  policy: {
    retentionSeconds: 86_400,
    alwaysReturnAge: false,
    faceAgeMarginYears: 0,
    enforceBlock: false,
    risk: {},
    defaultLocale: 'en',
  },
}
