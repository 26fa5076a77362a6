import type { LaunchState } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import {
  DOCUMENT_GUIDANCE,
  DOCUMENT_PROBLEMS,
  DOCUMENT_STAGES,
  type DocumentStage,
  type DocumentView,
} from '../documents/document-types.ts'
import type { State } from '../flow/states.ts'
import type { View } from '../flow/view.ts'
import type { Variant } from './variant.ts'

type On = (state: State, more: Partial<View>) => Variant

const VIEW: DocumentView = {
  asked: {
    when: 'always',
    acceptedTypes: ['passport', 'national_id', 'residence_permit', 'drivers_license', 'other'],
    ageFormat: 'threshold',
    reuseCheck: false,
  },
  alone: false,
  step: {
    nonce: 'n',
    attempt: 2,
    attemptsLeft: 2,
    today: '2026-11-17',
    acceptedTypes: ['passport'],
    expiryGraceDays: 0,
    age: { threshold: 18, format: 'threshold' },
    match: { threshold: 0.42, betterLightFrom: 0.35, capture: 'c' },
    expiresAt: '2026-11-17T12:00:00.000Z',
  },
  choice: 'passport',
  side: 'page',
  isSecondSide: false,
  guidance: 'doc_find',
  sharpness: 0.4,
  camera: null,
  cameras: [
    { id: 'a', label: '' },
    { id: 'b', label: 'camera2 0, facing back' },
  ],
  cameraId: 'b',
  torch: false,
  cameraProblem: 'permission_denied',
  loading: null,
  mayGiveUp: false,
  toSend: {
    reader: { id: 'mrz-1', hash: 'A'.repeat(43) },
    type: 'passport',
    format: 'TD3',
    age: { result: 'above' },
    expiry: 'valid',
    checks: { number: true, birth: true, expiry: true, composite: true },
    frames: 3,
    confidence: 987,
    sides: 1,
    match: { score: 713, capture: 'c' },
    hints: [],
    consent: { version: '1', locale: 'en' },
    browser: { kind: 'ordinary' },
  },
  doubt: null,
  sent: [],
  problem: 'unreadable',
}

const LINKS: View['links'] = { alternative: 'https://larkfield.example/other-way', privacy: null, support: null }

/** The screens of the document step, and those that it adds to. */
export function documents(on: On, over: LaunchState): Record<string, Variant> {
  const shown = (stage: DocumentStage, more: Partial<DocumentView> = {}, view: Partial<View> = {}) =>
    on({ at: 'document', stage }, { document: { ...VIEW, ...more }, links: LINKS, ...view })
  const welcome = (more: Partial<DocumentView>) =>
    on({ at: 'welcome', answering: false }, { document: { ...VIEW, ...more } })
  const reused = { ...VIEW.asked, ageFormat: 'exact', reuseCheck: true } as const
  const { toSend } = VIEW
  const doubtful = toSend && {
    ...toSend,
    type: 'residence_permit' as const,
    format: 'TD1' as const,
    age: { result: 'at' as const, years: 18 },
    expiry: 'expired' as const,
    sides: 2,
    hints: ['screen' as const, 'pasted_portrait' as const],
    reuse: 'A'.repeat(11),
  }
  return {
    'welcome-document': welcome({}),
    'welcome-step-up': welcome({ asked: { ...VIEW.asked, when: 'step_up' } }),
    'welcome-document-alone': welcome({ alone: true, asked: reused }),
    ...Object.fromEntries(
      DOCUMENT_STAGES.filter((stage) => stage !== 'problem' && stage !== 'reporting').map((stage) => [
        `document-${stage}`,
        shown(stage),
      ]),
    ),
    'document-intro-passport': shown('intro', { asked: { ...VIEW.asked, acceptedTypes: ['passport'] } }),
    'document-intro-nobody': shown('intro', {}, { brand: null, links: { ...LINKS, alternative: null } }),
    'document-loading': shown('show', { loading: { loadedBytes: 400_000, totalBytes: 1_000_000 } }),
    'document-front': shown('show', { choice: 'card', side: 'front', guidance: 'doc_hold', torch: true }),
    'document-back': shown('show', { choice: 'card', side: 'back', isSecondSide: true, cameras: [], torch: null }),
    'document-barcode': shown('show', { choice: 'licence', side: 'back', guidance: 'barcode_focus', mayGiveUp: true }),
    ...Object.fromEntries(DOCUMENT_GUIDANCE.map((guidance) => [`document-${guidance}`, shown('show', { guidance })])),
    'document-review-doubt': shown('review', { toSend: doubtful, doubt: 'expired' }),
    'document-review-other-face': shown('review', {
      toSend: toSend && { ...toSend, match: { score: 121, capture: 'c' } },
      doubt: 'other_face',
    }),
    ...Object.fromEntries(
      DOCUMENT_PROBLEMS.map((problem) => [`document-problem-${problem}`, shown('problem', { problem })]),
    ),
    ...additions(on, over),
  }
}

/** Screens of others, to which the document step adds something. */
function additions(on: On, over: LaunchState): Record<string, Variant> {
  const { toSend } = VIEW
  return {
    'welcome-enroll-document': on(
      { at: 'welcome', answering: false },
      {
        document: { ...VIEW, asked: { ...VIEW.asked, ageFormat: null } },
        verification: {
          type: 'ENROLL',
          requirements: ['face', 'identity_document'],
          realm: 'r',
          version: 'FACE3_3',
          sendImages: false,
          estimateAge: false,
          matching: 'server',
          mustPopOut: false,
        },
      },
    ),
    'viewer-document': on({ at: 'viewer', stage: 'document' }, { document: VIEW }),
    'document-tries-used': on(
      { at: 'ended' },
      { document: VIEW, links: LINKS, session: { ...over, errors: [codes.DOCUMENT_UNREADABLE] } },
    ),
    'document-tampered': on(
      { at: 'ended' },
      { document: VIEW, links: LINKS, session: { ...over, errors: [codes.DOCUMENT_TAMPERED] } },
    ),
    'ledger-document': {
      ...on({ at: 'done' }, { document: { ...VIEW, sent: toSend ? [toSend] : [] }, session: over }),
      dialog: 'ledger',
    },
  }
}
