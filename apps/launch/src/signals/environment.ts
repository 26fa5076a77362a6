/**
 * Everything the signals look at, and nothing else: read once from the browser's globals (`readEnvironment`), so that each
 * signal is a pure function and a test can be any browser. What a browser lacks is undefined.
 */
export interface SignalEnvironment {
  readonly navigator: NavigatorFacts
  readonly window: WindowFacts
  readonly document: DocumentFacts
  readonly screen: { readonly width: number | undefined; readonly height: number | undefined }
  readonly time: TimeFacts
  readonly notification: { readonly exists: boolean; readonly permission: string | undefined }
  /** Interfaces of `EXPECTED_INTERFACES` that are not there. */
  readonly missingInterfaces: readonly string[]
  /** Functions of the browser that a script replaced, such as `mediaDevices.getUserMedia`. */
  readonly replacedFunctions: readonly string[]
  readonly probes: Probes
}

export interface NavigatorFacts {
  /** Empty when it cannot be read. */
  readonly userAgent: string
  readonly platform: string | undefined
  readonly vendor: string | undefined
  readonly webdriver: boolean | undefined
  readonly language: string | undefined
  readonly languages: readonly string[] | undefined
  readonly pluginCount: number | undefined
  readonly maxTouchPoints: number | undefined
  readonly hasDeviceMemory: boolean
  readonly deviceMemory: number | undefined
  readonly connectionRttMs: number | undefined
  readonly clientHints: ClientHints | undefined
  readonly isBrave: boolean
  /** A browser keeps its properties on the prototype: names here were put there by a script. */
  readonly ownProperties: readonly string[]
}

/** `navigator.userAgentData`: what the browser says about itself beside the user agent. */
export interface ClientHints {
  readonly brands: readonly { readonly brand: string; readonly version: string }[]
  readonly mobile: boolean | undefined
  readonly platform: string
}

export interface WindowFacts {
  readonly properties: readonly string[]
  readonly hasChrome: boolean
  readonly isTop: boolean
  readonly isSecureContext: boolean
  readonly innerWidth: number | undefined
  readonly innerHeight: number | undefined
  readonly outerWidth: number | undefined
  readonly outerHeight: number | undefined
}

export interface DocumentFacts {
  readonly properties: readonly string[]
  /** Names of the attributes of the root element. */
  readonly rootAttributes: readonly string[]
  readonly isVisible: boolean
}

export interface TimeFacts {
  readonly nowMs: number
  /** The name of the time zone, as Intl has it. */
  readonly zone: string | undefined
  /** Minutes east of Greenwich, as Date has it. */
  readonly offsetMinutes: number | undefined
}

/** What must be asked and takes time. Each may answer undefined: cannot be asked here. */
export interface Probes {
  /** Null when the browser has no WebGL to give. */
  webGL(): Promise<WebGLFacts | null | undefined>
  webRTC(): Promise<'missing' | 'fails' | 'works' | undefined>
  /** How the permission for notifications stands, by the permissions interface. */
  notificationPermission(): Promise<string | undefined>
  cameras(): Promise<{ readonly failed: boolean; readonly count: number } | undefined>
  /** Times of animation frames that follow each other, in milliseconds. */
  frameTimesMs(): Promise<readonly number[] | undefined>
  /** How long a timer of TIMER_MS really took. */
  timerTookMs(): Promise<number | undefined>
}

export interface WebGLFacts {
  readonly vendor: string
  readonly renderer: string
}

/** What the probes answered; undefined where one could not be asked, failed or did not answer in time. */
export type Answers = {
  readonly [Name in keyof Probes]: Awaited<ReturnType<Probes[Name]>>
}

export type BrowserKind = 'ordinary' | 'webview' | 'privacy'

/** All that a signal may be decided by. */
export interface Facts extends SignalEnvironment {
  readonly answers: Answers
  readonly kind: BrowserKind
  /** The camera in use; undefined before the user granted one. */
  readonly camera: { readonly label: string } | undefined
}

/** True: suspicious. Undefined: cannot be told in this browser, which is no suspicion. */
export type Signal = (facts: Facts) => boolean | undefined
