import { DOCUMENT_TYPES } from '../documents.ts'
import type { Handoff } from '../handoff.ts'
import type { PasskeyOptions } from '../launch.ts'
import type { DocumentStep } from '../launch-documents.ts'
import type { DeviceKey, LaunchState, OpenedSession } from '../launch-session.ts'
import type { Challenge } from '../launch-steps.ts'
import type { TokenBegun, TokenEnrolled } from '../launch-token.ts'
import { AGE_LIMITS } from '../limits.ts'
import { EXAMPLE_SESSION, type OperationExamples } from './example.ts'

const { sessionId, launchUrl, expiresAt } = EXAMPLE_SESSION
const nonce = 'nYw0E2pRkq8Tt1XvJc5Zb7GdHs3LfAa9MoUiQe6Wx4C'
const tokenId = 'Zk3vTq9LwXa1RmP5eYhB7g'
const publicKey: DeviceKey = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}

const open: LaunchState = {
  sessionId,
  state: 'READY',
  role: 'holder',
  attempt: 0,
  attemptsLeft: 3,
  expiresAt,
  flowStatus: null,
  errors: [],
  redirectUrl: null,
  livemode: false,
}
const ended: LaunchState = {
  ...open,
  state: 'COMPLETED',
  attempt: 1,
  attemptsLeft: 2,
  flowStatus: 'COMPLETED',
  redirectUrl: `https://shop.example/age-checked?sessionId=${sessionId}&flowStatus=COMPLETED`,
}
const opened: OpenedSession = {
  ...open,
  state: 'OPENED',
  type: 'AGE',
  verification: null,
  requirements: ['face'],
  host: 'shop.example',
  handoff: true,
  locale: 'en',
  consentVersion: '1',
  sealKey: publicKey,
  brand: null,
  document: null,
  alternativeUrl: null,
  ages: { age: 18, estimate: 25 },
  mayExtend: false,
  links: { alternative: null, privacy: 'https://shop.example/privacy', support: null },
  eventsTravel: true,
  embedOrigins: [],
}
const challenge: Challenge = {
  nonce,
  attempt: 1,
  steps: [
    { movement: 'turn_left', atMs: 1210 },
    { movement: 'blink', atMs: 3480 },
    { movement: 'closer', atMs: 5620 },
  ],
  sampleAtMs: [400, 1810, 4090, 6240],
  expiresAt: '2026-11-15T10:03:40.000Z',
}
const handoff: Handoff = {
  code: 'hQ0sXw5Jm2Kd9TzB4uVnE1',
  url: `${launchUrl}#h=hQ0sXw5Jm2Kd9TzB4uVnE1`,
  expiresAt: '2026-11-15T10:07:10.000Z',
  number: '47',
}
const passkey: PasskeyOptions = {
  mode: 'get',
  options: { challenge: nonce, rpId: 'ostiary.example', allowCredentials: [], userVerification: 'required' },
}
const documentStep: DocumentStep = {
  nonce,
  attempt: 1,
  attemptsLeft: 3,
  today: '2026-11-15',
  acceptedTypes: [...DOCUMENT_TYPES],
  expiryGraceDays: 0,
  age: { threshold: 18, format: 'threshold' },
  match: { threshold: AGE_LIMITS.faceMatchThresholdDefault, betterLightFrom: 0.32, capture: nonce },
  expiresAt,
}
const begun: TokenBegun = {
  tokenId,
  account: 'q1Xn8VtR5sLz0WcE3yKm6A',
  realm: 'w7Hq2LbT9nXe4RkVzC1sPg',
  matcherNonce: nonce,
  keyHolderNonce: nonce,
  keyHolderKey: publicKey,
  publicKey: null,
  wantsToken: false,
}
const enrolled: TokenEnrolled = { tokenId, sealedToken: null }

const goesOn = { replies: { 200: { 'The flow goes on': open } } }
const ends = { replies: { 200: { 'The flow has ended': ended } } }

export const DEVICE_EXAMPLES = {
  launchOpen: { replies: { 200: { 'An age session': opened } } },
  launchConsent: goesOn,
  launchChallenge: { replies: { 200: { 'Three movements': challenge } } },
  launchEvents: goesOn,
  launchSubmit: ends,
  launchFailure: goesOn,
  launchCancel: {
    replies: {
      200: {
        'The flow has ended': {
          ...ended,
          state: 'CANCELLED',
          flowStatus: 'CANCELLED',
          redirectUrl: `https://shop.example/age-checked?sessionId=${sessionId}&flowStatus=CANCELLED`,
        },
      },
    },
  },
  launchExtend: { replies: { 200: { 'Ten minutes more': { ...open, expiresAt: '2026-11-15T10:25:00.000Z' } } } },
  launchHandoff: { replies: { 200: { 'For a QR code': handoff } } },
  launchNumber: goesOn,
  launchTakeBack: goesOn,
  launchPasskeyOptions: { replies: { 200: { 'For navigator.credentials.get': passkey } } },
  launchPasskeyVerify: ends,
  launchDocument: { replies: { 200: { 'After a face': documentStep } } },
  launchDocumentSubmit: ends,
  launchTokenBegin: { replies: { 200: { 'For an enrolment': begun } } },
  launchTokenEnrol: { replies: { 200: { 'The token is stored': enrolled } } },
  launchTokenProbe: { replies: { 200: { 'The probe is stored': { tokenId } } } },
} as const satisfies Record<string, OperationExamples>
