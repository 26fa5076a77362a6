import type { DocumentFacts as AskedDocument, DocumentPayload, DocumentStep } from '@ostiary/contract'
import type { DocumentFacts } from '@ostiary/device'
import type { Camera, CameraProblem } from '../camera/camera-types.ts'
import type { LoadProgress } from '../engine/engine.ts'

/** What the user chooses from. A card is an identity card or a residence permit; a licence is one of the US or Canada. */
export const DOCUMENT_CHOICES = ['passport', 'card', 'licence'] as const
export type DocumentChoice = (typeof DOCUMENT_CHOICES)[number]

/** `page`: of a passport, with portrait and text. A card has its portrait on the front and its text on the back. */
export const DOCUMENT_SIDES = ['page', 'front', 'back'] as const
export type DocumentSide = (typeof DOCUMENT_SIDES)[number]

/** What the camera screen says. `doc_hold`: all is well, and the device needs a moment. */
export const DOCUMENT_GUIDANCE = [
  'doc_find',
  'doc_too_far',
  'doc_too_close',
  'doc_glare',
  'doc_blurry',
  'doc_fingers',
  'doc_dark',
  'doc_flip',
  'doc_wrong_side',
  'doc_portrait',
  'barcode_find',
  'barcode_focus',
  'doc_hold',
] as const
export type DocumentGuidance = (typeof DOCUMENT_GUIDANCE)[number]

/** Why a document did not count, or could not be tried. Each has its own words and a way out. */
export const DOCUMENT_PROBLEMS = [
  'expired',
  'expired_lately',
  'unreadable',
  'unsupported',
  'no_birth_date',
  'other_face',
  'screen',
  'not_loaded',
  'neutral',
] as const
export type DocumentProblem = (typeof DOCUMENT_PROBLEMS)[number]

/** The screens of the step. `wait`: the service is asked what is wanted. `reporting`: it gets to know that a document gives nothing to send. `look`: the face is needed once more. */
export const DOCUMENT_STAGES = [
  'wait',
  'reporting',
  'look',
  'look_again',
  'intro',
  'choose',
  'device',
  'asking',
  'no_camera',
  'show',
  'review',
  'light',
  'problem',
] as const
export type DocumentStage = (typeof DOCUMENT_STAGES)[number]

/** A camera that the user may choose. Its name never leaves the device. */
export interface CameraChoice {
  id: string
  label: string
}

/** What the screens of the document step show. */
export interface DocumentView {
  asked: AskedDocument
  /** The session asks for nothing but the document. */
  alone: boolean
  step: DocumentStep | null
  choice: DocumentChoice | null
  side: DocumentSide
  /** The side before this one was read. */
  isSecondSide: boolean
  guidance: DocumentGuidance
  /** 0 to 1, for the tone. */
  sharpness: number
  camera: Camera | null
  cameras: readonly CameraChoice[]
  cameraId: string | null
  /** Null where the camera has no light. */
  torch: boolean | null
  cameraProblem: CameraProblem | null
  /** Download of the reader; null when it is ready. */
  loading: LoadProgress | null
  /** The user may say that the document cannot be read. */
  mayGiveUp: boolean
  /** What is sent if the user agrees. */
  toSend: DocumentFacts | null
  /** Why it will probably be refused. */
  doubt: 'expired' | 'other_face' | null
  /** What was sent so far, for the list of what left this device. */
  sent: readonly DocumentFacts[]
  problem: DocumentProblem | null
}

export type DocumentCommand =
  | { do: 'begin' | 'look' | 'use_camera' | 'torch' | 'give_up' | 'send' | 'again' | 'other' | 'go_on' }
  | { do: 'choose'; choice: DocumentChoice }
  | { do: 'camera'; id: string }

/** What the reader says about an accepted text. Names, numbers and dates stay in its worker. */
export interface ReadFacts
  extends Pick<DocumentPayload, 'type' | 'format' | 'age' | 'expiry' | 'checks' | 'frames' | 'confidence' | 'reuse'> {
  reader: DocumentPayload['reader']
  hints: DocumentPayload['hints'][number][]
  /** A text that gives nothing to send. */
  unusable: 'unsupported' | 'no_birth_date' | null
  /** It expired within the last month. */
  expiredLately: boolean
}
