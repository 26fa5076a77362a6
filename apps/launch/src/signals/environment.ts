/**
 * Everything that the signals read, and nothing else. `readEnvironment` reads it once from the browser's globals, so that each
 * signal is a pure function and a test can simulate any browser. A value that the browser lacks is undefined.
 */
export interface SignalEnvironment {
  readonly navigator: NavigatorFacts
  readonly window: WindowFacts
  readonly document: DocumentFacts
  readonly screen: { readonly width: number | undefined; readonly height: number | undefined }
  readonly time: TimeFacts
  readonly notification: { readonly exists: boolean; readonly permission: string | undefined }
  /** Missing interfaces of `EXPECTED_INTERFACES`. */
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
  /** Own properties. Browsers define theirs on the prototype, so a script added these. */
  readonly ownProperties: readonly string[]
}

/** `navigator.userAgentData`: the client hints beside the user agent. */
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
  /** Name of the time zone, from Intl. */
  readonly zone: string | undefined
  /** Minutes east of Greenwich, from Date. */
  readonly offsetMinutes: number | undefined
}

/** Asynchronous questions to the browser. Each may return undefined if this browser cannot answer. */
export interface Probes {
  /** Null if the browser has no WebGL. */
  webGL(): Promise<WebGLFacts | null | undefined>
  webRTC(): Promise<'missing' | 'fails' | 'works' | undefined>
  /** State of the notification permission, from the Permissions API. */
  notificationPermission(): Promise<string | undefined>
  cameras(): Promise<{ readonly failed: boolean; readonly count: number } | undefined>
  /** Times of consecutive animation frames, in milliseconds. */
  frameTimesMs(): Promise<readonly number[] | undefined>
  /** How long a timer of TIMER_MS really took. */
  timerTookMs(): Promise<number | undefined>
}

export interface WebGLFacts {
  readonly vendor: string
  readonly renderer: string
}

/** The answers of the probes; undefined if a probe is not possible, failed or timed out. */
export type Answers = {
  readonly [Name in keyof Probes]: Awaited<ReturnType<Probes[Name]>>
}

export type BrowserKind = 'ordinary' | 'webview' | 'privacy'

/** Everything that a signal may use. */
export interface Facts extends SignalEnvironment {
  readonly answers: Answers
  readonly kind: BrowserKind
  /** The camera in use; undefined before the user granted one. */
  readonly camera: { readonly label: string } | undefined
}

/** True: suspicious. Undefined: cannot be evaluated in this browser, which is not suspicious. */
export type Signal = (facts: Facts) => boolean | undefined
