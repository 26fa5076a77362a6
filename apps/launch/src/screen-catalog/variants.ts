import type { LaunchState } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { CAMERA_PROBLEMS } from '../camera/camera-types.ts'
import type { CaptureView } from '../capture/capture-types.ts'
import { PASSKEY_PROBLEMS, SESSION_PROBLEMS, type State } from '../flow/states.ts'
import { FIRST_VIEW, type VerificationView, type View } from '../flow/view.ts'
import type { TokenEndReason } from '../verification/screens/ended.tsx'
import { choices } from './choice-variants.ts'
import { documents } from './document-variants.ts'
import type { Variant } from './variant.ts'

const SESSION_ID = '0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b'
/** On the first screen, for the other device. */
const NUMBER = '47'
const LONG_HOST = 'checkout-and-age-verification.larkfield-wines-and-spirits.example'
const BRAND = { name: 'Larkfield Wines', logo: null, primary: null, background: null }

export function variantsAt(nowMs: number): Record<string, Variant> {
  const session: LaunchState = {
    sessionId: SESSION_ID,
    state: 'OPENED',
    role: 'holder',
    attempt: 1,
    attemptsLeft: 2,
    expiresAt: new Date(nowMs + 14 * 60_000).toISOString(),
    flowStatus: null,
    errors: [],
    redirectUrl: null,
    livemode: true,
  }
  const base: View = { ...FIRST_VIEW, session, brand: BRAND, host: 'larkfield.example', loading: null }
  const on = (state: State, more: Partial<View> = {}): Variant => ({ view: { ...base, state, ...more } })
  const over: LaunchState = { ...session, flowStatus: 'COMPLETED', redirectUrl: 'https://larkfield.example/checked' }
  return {
    loading: on({ at: 'loading' }, { session: null, brand: null }),
    welcome: on({ at: 'welcome', answering: false }),
    'welcome-nobody': on(
      { at: 'welcome', answering: false },
      { brand: null, session: { ...session, livemode: false } },
    ),
    'welcome-expiring': on(
      { at: 'welcome', answering: false },
      { session: { ...session, expiresAt: new Date(nowMs + 92_000).toISOString() } },
    ),
    'welcome-offline': on({ at: 'welcome', answering: true }, { offline: true }),
    unsupported: on({ at: 'unsupported', why: { kind: 'in_app', app: 'Chatterbox' } }, { session: null, brand: null }),
    'unsupported-browser': on({ at: 'unsupported', why: { kind: 'no_camera_api' } }, { session: null, brand: null }),
    'camera-prime': on({ at: 'camera', status: 'prime' }),
    'camera-asking': on({ at: 'camera', status: 'asking' }),
    ...Object.fromEntries(CAMERA_PROBLEMS.map((status) => [`camera-${status}`, on({ at: 'camera', status })])),
    ...captures(on),
    sending: on({ at: 'sending' }),
    'sending-offline': on({ at: 'sending' }, { offline: true }),
    retry: on({ at: 'retry', tip: 'neutral' }),
    'retry-light': on({ at: 'retry', tip: 'light' }, { session: { ...session, attemptsLeft: 1 } }),
    ...handoffs(on, nowMs),
    ...endings(on, over),
    ...Object.fromEntries(
      SESSION_PROBLEMS.map((problem) => [
        `problem-${problem}`,
        on({ at: 'problem', problem }, problem === 'step_missing' ? {} : { session: null, brand: null }),
      ]),
    ),
    ...verifications(on, over),
    ...tokens(on, over),
    ...documents(on, over),
    ...choices(on, session, over, nowMs),
    ledger: { ...on({ at: 'done' }, { session: over }), dialog: 'ledger' },
    cancel: { ...on({ at: 'welcome', answering: false }), dialog: 'cancel' },
    language: { ...on({ at: 'welcome', answering: false }), dialog: 'language' },
    'language-missing': { ...on({ at: 'welcome', answering: false }), missingLanguage: 'Kiswahili' },
  }
}

/** A session that moves to another device: the first one, and the one that joins. */
function handoffs(on: (state: State, more?: Partial<View>) => Variant, nowMs: number): Record<string, Variant> {
  const handoff = {
    code: 'k3v9Qm2XbT7wLr8ZpN4yHs6d',
    url: `https://id.example/launch/?sessionId=${SESSION_ID}#h=k3v9Qm2XbT7wLr8ZpN4yHs6d`,
    expiresAt: new Date(nowMs + 4 * 60_000 + 41_000).toISOString(),
    number: NUMBER,
  }
  return {
    number: on({ at: 'number', sending: false }, { secondDevice: true }),
    'number-nobody': on({ at: 'number', sending: false }, { secondDevice: true, brand: null, host: LONG_HOST }),
    handoff: on({ at: 'handoff', status: 'ready' }, { handoff, number: NUMBER }),
    'handoff-desktop': on({ at: 'handoff', status: 'ready' }, { handoff, number: NUMBER, barred: true }),
    'handoff-no-number': on({ at: 'handoff', status: 'ready' }, { handoff }),
    'handoff-making': on({ at: 'handoff', status: 'making' }),
    'handoff-refused': on({ at: 'handoff', status: 'refused' }),
    'handoff-refused-desktop': on({ at: 'handoff', status: 'refused' }, { barred: true }),
    'handoff-number-wrong': on({ at: 'handoff', status: 'number_wrong' }),
    'viewer-scanned': on({ at: 'viewer', stage: 'scanned' }, { number: NUMBER }),
    viewer: on({ at: 'viewer', stage: 'face' }),
  }
}

function endings(on: (state: State, more: Partial<View>) => Variant, over: LaunchState): Record<string, Variant> {
  return {
    done: on({ at: 'done' }, { session: over }),
    'done-second': on({ at: 'done' }, { session: over, secondDevice: true }),
    // A browser that had no part in the session, or another one than the one that the result belongs to.
    'done-stranger': on({ at: 'done' }, { session: { ...over, redirectUrl: null } }),
    'done-embedded': on({ at: 'done' }, { session: over, embedded: true }),
    ended: on({ at: 'ended' }, { session: over }),
    expired: on({ at: 'expired' }, { session: { ...over, flowStatus: 'EXPIRED' } }),
    cancelled: on({ at: 'cancelled' }, { session: { ...over, flowStatus: 'CANCELLED' } }),
    declined: on({ at: 'declined' }, { session: { ...over, flowStatus: 'CANCELLED' } }),
  }
}

function captures(on: (state: State, more: Partial<View>) => Variant): Record<string, Variant> {
  const capture = (view: Partial<CaptureView>, more: Partial<View> = {}) =>
    on(
      { at: 'capture' },
      {
        capture: {
          phase: 'challenge',
          guidance: null,
          movement: null,
          movementsSeen: 1,
          movementsTotal: 3,
          progress: 0.42,
          ...view,
        },
        ...more,
      },
    )
  return {
    'capture-load': on(
      { at: 'capture' },
      { loading: { loadedBytes: 1_900_000, totalBytes: 5_300_000, secondsLeft: 12 } },
    ),
    'capture-load-slow': on(
      { at: 'capture' },
      { loading: { loadedBytes: 400_000, totalBytes: 5_300_000, secondsLeft: 98 } },
    ),
    'capture-find': capture({ phase: 'find', guidance: 'too_far' }),
    'capture-dark': capture({ phase: 'find', guidance: 'too_dark' }, { mayStartAnyway: true }),
    'capture-in-oval': capture({ phase: 'find', guidance: 'in_oval' }),
    capture: capture({ movement: 'turn_left' }),
    'capture-turn-right': capture({ movement: 'turn_right', movementsSeen: 0, progress: 0.2 }),
    'capture-look-up': capture({ movement: 'look_up' }),
    'capture-blink': capture({ movement: 'blink', movementsSeen: 2, progress: 0.7 }),
    'capture-closer': capture({ movement: 'closer' }),
    'capture-back': capture({ movement: null }),
    'capture-measure': capture({ phase: 'measure', movementsSeen: 3, progress: 1 }),
  }
}

/** What sessions that send tokens say differently. */
function tokens(on: (state: State, more: Partial<View>) => Variant, over: LaunchState): Record<string, Variant> {
  const asked = (more: Partial<VerificationView>): Partial<View> => ({
    verification: { ...SIGN_IN, templates: 'token', ...more },
  })
  const welcome = (more: Partial<VerificationView>) => on({ at: 'welcome', answering: false }, asked(more))
  const end = (endReason: TokenEndReason, errors: number[]) =>
    on({ at: 'ended' }, { ...asked({}), endReason, session: { ...over, state: 'FAILED', errors } })
  return {
    'welcome-token-enroll': welcome({ type: 'ENROLL' }),
    'welcome-token-enroll-device': welcome({ type: 'ENROLL', templates: 'token_on_device', sendImages: true }),
    'welcome-token-signin': welcome({ requirements: ['face', 'passkey'] }),
    'welcome-token-signin-local': welcome({ matching: 'local_first' }),
    'welcome-token-migrates': welcome({ migrates: true }),
    'welcome-token-verify': welcome({ type: 'VERIFY' }),
    'token-end-no-hint': end('no_hint', [codes.USER_NOT_ENROLLED]),
    'token-end-key-holder': end('key_holder', [codes.INTERNAL]),
    'token-end-pin': end('key_holder_pin', [codes.INTERNAL]),
    'token-end-key': end('token_key', [codes.INTERNAL]),
    'token-end-storage': end('token_storage', [codes.INTERNAL]),
    'retry-token': on({ at: 'retry', tip: 'models' }, asked({})),
    'ledger-token': { ...on({ at: 'done' }, { ...asked({ type: 'ENROLL' }), session: over }), dialog: 'ledger' },
  }
}

const SIGN_IN: VerificationView = {
  type: 'SIGN-IN',
  requirements: ['face'],
  realm: 'r',
  version: 'FACE3_3',
  sendImages: false,
  estimateAge: false,
  matching: 'server',
  mustPopOut: false,
}

/** The screens of ENROLL, SIGN-IN and VERIFY that differ from those of an age check. */
function verifications(on: (state: State, more: Partial<View>) => Variant, over: LaunchState): Record<string, Variant> {
  const asked = (more: Partial<VerificationView>): Partial<View> => ({
    verification: { ...SIGN_IN, ...more },
  })
  const welcome = (more: Partial<VerificationView>, view: Partial<View> = {}) =>
    on({ at: 'welcome', answering: false }, { ...asked(more), ...view })
  const requirements = ['face', 'passkey']
  const enroll = { type: 'ENROLL', requirements } as const
  const signIn = { type: 'SIGN-IN', requirements } as const
  const selfie = { type: 'ENROLL', sendImages: true } as const
  return {
    'welcome-enroll': welcome({ type: 'ENROLL' }),
    'welcome-enroll-selfie': welcome({ ...enroll, sendImages: true, estimateAge: true }),
    'welcome-signin': welcome({ matching: 'local_first' }),
    'welcome-signin-selfie': welcome({ sendImages: true }, { brand: null }),
    'welcome-verify': welcome({ type: 'VERIFY' }),
    'welcome-framed': welcome({ ...signIn, mustPopOut: true }, { embedded: true }),
    'welcome-framed-only': welcome({ ...signIn, mustPopOut: true }, { embedded: true, mayHandOff: false }),
    ...Object.fromEntries(
      (['ENROLL', 'SIGN-IN', 'VERIFY'] as const).map((type) => [
        `number-${type.toLowerCase()}`,
        on({ at: 'number', sending: false }, { ...asked({ type }), secondDevice: true }),
      ]),
    ),
    'passkey-create': on({ at: 'passkey', status: 'prime' }, asked(enroll)),
    'passkey-get': on({ at: 'passkey', status: 'prime' }, asked(signIn)),
    'passkey-asking': on({ at: 'passkey', status: 'asking' }, asked(enroll)),
    'passkey-checking': on({ at: 'passkey', status: 'checking' }, asked(enroll)),
    ...Object.fromEntries(
      PASSKEY_PROBLEMS.map((status) => [`passkey-${status}`, on({ at: 'passkey', status }, asked(signIn))]),
    ),
    'sending-selfie': on({ at: 'sending' }, asked(selfie)),
    'viewer-passkey': on({ at: 'viewer', stage: 'passkey' }, asked(signIn)),
    locked: on(
      { at: 'ended' },
      { ...asked({}), session: { ...over, state: 'FAILED', errors: [codes.TEMPORARILY_LOCKED] } },
    ),
    'ledger-selfie': { ...on({ at: 'done' }, { ...asked(selfie), session: over }), dialog: 'ledger' },
  }
}
