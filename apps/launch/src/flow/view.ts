import type { Brand, Handoff, LaunchState, MovementKind, VerificationFacts, VerificationType } from '@ostiary/contract'
import type { Camera } from '../camera/camera-types.ts'
import type { CaptureView } from '../capture/capture-types.ts'
import type { DocumentCommand, DocumentView } from '../documents/document-types.ts'
import type { Download, Loading } from './models.ts'
import type { State } from './states.ts'

/** Everything a screen can show. The flow changes it; screens only read it. */
export interface View {
  state: State
  session: LaunchState | null
  brand: Brand | null
  /** Name of the host that asked for the session, such as `shop.example`. Empty until the session is open. */
  host: string
  /** Of an ENROLL, SIGN-IN or VERIFY session; null for age checks. */
  verification: VerificationView | null
  /** Of a session that may ask for a document. */
  document: DocumentView | null
  /** A call gets no answer and is being repeated. */
  offline: boolean
  /** Download progress of what the face step needs next; null when all of it is there. */
  loading: Loading | null
  /** What the page downloads for the face; null until that is known. `later`: after consent, because the user saves data. */
  download: (Download & { later: boolean }) | null
  camera: Camera | null
  /** Null until the face engine is ready. */
  capture: CaptureView | null
  /** The user could not follow the guidance for a while and may start without it. */
  mayStartAnyway: boolean
  /** Kinds of movement that the user has said they cannot make. */
  cannot: readonly MovementKind[]
  /** The user has asked for more time for each movement. */
  moreTime: boolean
  /** The session's time can be extended, once. */
  mayExtend: boolean
  /** The user has chosen to stay on an end screen. */
  stays: boolean
  links: Links
  /** Of an age check: what is asked for. Null where the server does not say. */
  ages: AskedAges | null
  handoff: Handoff | null
  /** The tenant allows that the session moves to another device. */
  mayHandOff: boolean
  /** The number that belongs to the last code. It is kept over a reload. Null before the first code. */
  number: string | null
  /** This device may not run the flow: it is a desktop, and the host allows only phones. */
  barred: boolean
  takeBackRefused: boolean
  /** This device joined with a code: at the end the first device continues. */
  secondDevice: boolean
  /** A host listens: the page reports the end to it and does not navigate by itself. */
  embedded: boolean
  /** The app whose built-in browser shows this page; null in an ordinary browser. */
  inApp: { name: string | null } | null
  /** Why this device has ended the session, as it was reported; null in all other cases. */
  endReason: string | null
  /** By how much the server's clock is ahead of this device's. */
  serverAheadMs: number
}

/** The tenant's pages in the language that is shown: https addresses; null where the tenant has none. */
export interface Links {
  alternative: string | null
  privacy: string | null
  support: string | null
}

export interface AskedAges {
  /** The age that the host asks for. */
  age: number
  /** The estimate has to come out at this age; null if that is the same. */
  estimate: number | null
}

/** What screens know of an ENROLL, SIGN-IN or VERIFY session. */
export interface VerificationView extends VerificationFacts {
  type: VerificationType
  requirements: readonly string[]
  /** Browsers refuse passkeys inside a frame, so the flow needs a separate window. */
  mustPopOut: boolean
  /** Whether the browser will create or use a passkey; undefined until the service has said. */
  passkeyMode?: 'create' | 'get'
}

/** What a user can do. */
export interface Actions {
  /** Sends the two digits that the first screen shows. A wrong number voids the code. */
  sendNumber(number: string): void
  consent(accepted: boolean): void
  startCamera(): void
  startAnyway(): void
  /** The user cannot make these kinds of movement: the server draws from the others. */
  cannot(kinds: readonly MovementKind[]): void
  askMoreTime(): void
  /** Extends the session's time where the tenant allows it. */
  extend(): void
  /** Stays on an end screen until the user leaves it. */
  stay(): void
  /** Goes back to the host from an end screen. */
  leave(): void
  askHandoff(): void
  /** Continues on this device after a handoff, or when none was possible. */
  takeBack(): void
  cancel(): void
  /** Anything on the screens of the document step. */
  document(command: DocumentCommand): void
  askPasskey(): void
  skipPasskey(): void
  /** Continues in a separate window. */
  popOut(): void
  reopen(): void
  closePage(): void
}

export const FIRST_VIEW: View = {
  state: { at: 'loading' },
  session: null,
  brand: null,
  host: '',
  verification: null,
  document: null,
  offline: false,
  loading: { loadedBytes: 0, totalBytes: 0 },
  download: null,
  camera: null,
  capture: null,
  mayStartAnyway: false,
  cannot: [],
  moreTime: false,
  mayExtend: false,
  stays: false,
  links: { alternative: null, privacy: null, support: null },
  ages: null,
  handoff: null,
  mayHandOff: true,
  number: null,
  barred: false,
  takeBackRefused: false,
  secondDevice: false,
  embedded: false,
  inApp: null,
  endReason: null,
  serverAheadMs: 0,
}
