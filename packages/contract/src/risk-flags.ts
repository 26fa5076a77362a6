import type { IndicatorPath } from './indicators.ts'

/**
 * The version of the table below, recorded in every evaluation. It changes whenever a weight, a floor or a rule of the
 * composite changes, so that an old result can be explained with the numbers it was made with.
 */
export const RISK_POLICY_VERSION = '4'

export type RiskSource = 'browser' | 'behavioral' | 'network' | 'handoff' | 'document'

/** Sources that count only for tenants who turn them on: by default `signals` has exactly `behavioral` and `browser`. */
export type OptionalRiskSource = Extract<RiskSource, 'network' | 'handoff'>

/**
 * What can explain a browser flag without an attack. The device claims it, so it may soften only what an attacker could
 * also leave out of the report.
 */
export const CIRCUMSTANCES = {
  webview: 'the page runs inside another app (WebView)',
  privacy: 'the browser is Brave, Tor Browser or another that resists fingerprinting',
  phoneCamera: 'the camera is a phone that serves as a webcam (Continuity Camera, DroidCam)',
} as const
export type Circumstance = keyof typeof CIRCUMSTANCES

/** A flag that privacy tools raise in honest hands never lifts the score above MEDIUM alone, whatever a tenant sets. */
export const PRIVACY_TOOL_MAX = 59

export interface RiskFlagFacts {
  source: RiskSource
  /** Its share in the composite: the chance, in percent, that something is wrong if only this flag is raised. */
  weight: number
  /** The composite is at least this while the flag is raised; 0 is no floor. */
  floor: number
  cause: string
  /** What raises the flag in honest hands. */
  falsePositive: string
  /** The boolean of `indicators` that raises it; browser flags only. */
  indicator?: IndicatorPath
  /** Under this circumstance the weight is at most this, and the floor does not apply. */
  softened?: { when: Circumstance; weight: number }
  privacyTool: boolean
  /** Counts although its source is in no `signals`: it says that data for an evaluation is missing, or is about a document. */
  alwaysCounts?: true
}

type Row = Omit<RiskFlagFacts, 'source' | 'floor' | 'privacyTool' | 'indicator'> & {
  floor?: number
  privacyTool?: boolean
}
const row = (source: RiskSource, facts: Row): RiskFlagFacts => ({ source, floor: 0, privacyTool: false, ...facts })
const browser = (indicator: IndicatorPath, facts: Row): RiskFlagFacts => ({ indicator, ...row('browser', facts) })
const behavioral = (facts: Row): RiskFlagFacts => row('behavioral', facts)
/** Hints with false alarms: modest weights, so that all of them together recommend no BLOCK. */
const document = (facts: Row): RiskFlagFacts => row('document', { ...facts, alwaysCounts: true })

/** Every code that `riskEvaluation.flags` can hold. `docs/risk-flags.md` is generated from this table. */
export const RISK_FLAGS = {
  BR_WEBDRIVER: browser('headless.webdriver', {
    weight: 80,
    floor: 85,
    cause: 'The browser says that a program drives it (`navigator.webdriver`).',
    falsePositive: 'Assistive automation; a test tenant may set the weight and the floor to 0.',
  }),
  BR_USER_AGENT: browser('headless.userAgent', {
    weight: 50,
    floor: 60,
    cause: 'The user agent names a headless browser, or contradicts the client hints.',
    falsePositive: 'Extensions that change the user agent.',
  }),
  BR_WEBGL: browser('headless.webGL', {
    weight: 25,
    cause: 'WebGL is missing or drawn by software (SwiftShader, llvmpipe).',
    falsePositive: 'Old devices, blocked WebGL, virtual machines.',
    privacyTool: true,
  }),
  BR_PHANTOM: browser('headless.phantom', {
    weight: 80,
    floor: 85,
    cause: 'Traces of PhantomJS.',
    falsePositive: 'None known.',
  }),
  BR_SELENIUM: browser('headless.selenium', {
    weight: 80,
    floor: 85,
    cause: 'Traces of Selenium or its drivers.',
    falsePositive: 'None known.',
  }),
  BR_CHROME: browser('headless.chrome', {
    weight: 30,
    cause: 'The user agent says Chrome, but the object `window.chrome` is missing.',
    falsePositive: 'WebViews.',
    softened: { when: 'webview', weight: 10 },
  }),
  BR_PERMISSIONS: browser('headless.permissions', {
    weight: 25,
    cause: 'Two ways to ask for the notification permission give different answers.',
    falsePositive: 'Privacy browsers.',
    privacyTool: true,
  }),
  BR_PLUGINS: browser('headless.plugins', {
    weight: 10,
    cause: 'The list of plugins is empty where this browser has some.',
    falsePositive: 'Firefox and phones: not evaluated there.',
  }),
  BR_LANGUAGES: browser('headless.languages', {
    weight: 20,
    cause: 'The list of languages is empty, or contradicts the language of the browser.',
    falsePositive: 'Brave.',
    privacyTool: true,
  }),
  BR_WEBRTC: browser('headless.webRTC', {
    weight: 10,
    cause: 'WebRTC is missing or does not work.',
    falsePositive: 'Blockers.',
    privacyTool: true,
  }),
  BR_NOTIFICATION: browser('headless.notification', {
    weight: 10,
    cause: 'The notification API behaves as in a headless browser.',
    falsePositive: 'Safari on iOS lacks the API: not evaluated there.',
  }),
  BR_DEVICE_MEMORY: browser('headless.deviceMemory', {
    weight: 5,
    cause: 'The browser has the device memory API, but its value is missing or impossible.',
    falsePositive: 'Safari and Firefox lack the API: not evaluated there.',
  }),
  BR_CONNECTION: browser('headless.connectionType', {
    weight: 5,
    cause: 'The network API reports a round trip of 0 ms.',
    falsePositive: 'Safari and Firefox lack the API: not evaluated there.',
  }),
  BR_TIMING: browser('headless.timing', {
    weight: 30,
    cause: 'Timers or animation frames run as no screen would drive them.',
    falsePositive: 'Throttled tabs.',
  }),
  BR_VCAM_SOFTWARE: browser('virtualCamera.virtualCameraSoftware', {
    weight: 70,
    floor: 75,
    cause: 'The camera is a known virtual camera.',
    falsePositive: 'People who stream from a desktop: offer another camera or the handoff first.',
  }),
  BR_VCAM_LABEL: browser('virtualCamera.suspiciousLabels', {
    weight: 50,
    floor: 60,
    cause: 'The name of the camera looks like a virtual one.',
    falsePositive: 'A phone that serves as a webcam.',
    softened: { when: 'phoneCamera', weight: 20 },
  }),
  BR_NO_MEDIA_DEVICES: browser('virtualCamera.noMediaDevices', {
    weight: 30,
    cause: 'The browser lists no camera although the permission was given.',
    falsePositive: 'Asked before the permission was given: evaluated after it only.',
  }),
  BR_MEDIA_ERROR: browser('virtualCamera.mediaDevicesError', {
    weight: 15,
    cause: 'Listing or opening the cameras failed.',
    falsePositive: 'Common on old Android devices.',
  }),
  BR_MISSING_APIS: browser('browserAnomalies.missingWebAPIs', {
    weight: 20,
    cause: 'Interfaces are missing that this engine and version have.',
    falsePositive: 'Old browsers: compared with the engine they name.',
  }),
  BR_FINGERPRINT: browser('browserAnomalies.inconsistentFingerprint', {
    weight: 40,
    cause: 'Facts about the browser contradict each other (platform, screen, time zone, fonts).',
    falsePositive: 'Anti-fingerprint modes.',
    softened: { when: 'privacy', weight: 25 },
    privacyTool: true,
  }),
  BR_AUTOMATION: browser('browserAnomalies.automationProperties', {
    weight: 70,
    floor: 80,
    cause: 'Properties that automation tools leave behind.',
    falsePositive: 'Extensions for testing.',
  }),

  BH_TOO_FAST: behavioral({
    weight: 50,
    floor: 60,
    cause: 'A step was done faster than a person can.',
    falsePositive: 'A step that is repeated.',
  }),
  BH_TOO_SLOW: behavioral({
    weight: 10,
    cause: 'Long idle, then a result at once.',
    falsePositive: 'Ordinary users who were interrupted.',
  }),
  BH_STEP_ORDER: behavioral({
    weight: 60,
    floor: 70,
    cause: 'Events of the session log came in an order that is not allowed.',
    falsePositive: 'None: it would be a fault of the page, and an alarm.',
  }),
  BH_LOG_GAP: behavioral({
    weight: 40,
    cause: 'Sequence numbers are missing in the session log.',
    falsePositive: 'A tab in the background.',
  }),
  BH_CHAIN_BROKEN: behavioral({
    weight: 90,
    floor: 95,
    cause: 'The hash chain of the capture log does not hold.',
    falsePositive: 'None.',
  }),
  BH_CLOCK_SKEW: behavioral({
    weight: 5,
    cause: 'The clock of the device is more than 5 minutes off.',
    falsePositive: 'Clocks that are set wrong.',
  }),
  BH_TIME_REGRESSION: behavioral({
    weight: 50,
    floor: 60,
    cause: 'The monotonic clock of the page went back.',
    falsePositive: 'A device that slept: once is tolerated.',
  }),
  BH_FRAMES_STATIC: behavioral({
    weight: 60,
    floor: 70,
    cause: 'Too little changed from frame to frame.',
    falsePositive: 'A camera on a stand and a calm person.',
  }),
  BH_FRAMES_REPEAT: behavioral({
    weight: 80,
    floor: 85,
    cause: 'Frames repeat: identical digests or a loop.',
    falsePositive: 'None.',
  }),
  BH_FPS_SYNTHETIC: behavioral({
    weight: 30,
    cause: 'Frames came at perfectly regular times.',
    falsePositive: 'Some camera drivers.',
  }),
  BH_CHALLENGE_MISMATCH: behavioral({
    weight: 60,
    floor: 70,
    cause: 'The movements are not those that the random challenge asked for.',
    falsePositive: 'Confused users: raised after two tries only.',
  }),
  BH_CHALLENGE_LATENCY: behavioral({
    weight: 60,
    floor: 70,
    cause: 'Movements began before they were asked for, or after always the same time.',
    falsePositive: 'None.',
  }),
  BH_AGE_UNSTABLE: behavioral({
    weight: 25,
    cause: 'The age estimate varies widely between frames.',
    falsePositive: 'Poor light: a reason for a document step, not for a refusal.',
  }),
  BH_AGE_IN_DOUBT: behavioral({
    // What raised the doubt has a weight of its own. This flag only keeps the result from ALLOW.
    weight: 0,
    floor: 30,
    cause:
      'A doubtful estimate decided alone in a session with step-up, because `documentInDoubt` is off: frames that disagree, or a behavioral flag with a floor of 60 or more.',
    falsePositive: 'Poor light, and what the flags beside it name. With `documentInDoubt` a document decides instead.',
  }),
  BH_RETRY_EXCESS: behavioral({
    weight: 20,
    cause: 'More attempts than allowed.',
    falsePositive: 'Low light.',
  }),
  BH_TAB_HIDDEN: behavioral({
    weight: 40,
    cause: 'The capture ran while the tab was hidden.',
    falsePositive: 'The notification shade of a phone.',
  }),
  BH_DEVICE_SWITCH: behavioral({
    weight: 50,
    floor: 60,
    cause: 'A second device took part without a handoff.',
    falsePositive: 'None.',
  }),
  BH_RESULT_NO_CAPTURE: behavioral({
    weight: 90,
    floor: 95,
    cause: 'A result arrived without a capture log that matches it.',
    falsePositive: 'None.',
  }),
  BH_PAYLOAD_REPLAY: behavioral({
    weight: 95,
    floor: 95,
    cause: 'The nonce or the payload was seen before.',
    falsePositive: 'None.',
  }),
  BH_MODEL_MISMATCH: behavioral({
    weight: 60,
    floor: 75,
    cause: 'The model or its WebAssembly has a digest that is not known.',
    falsePositive: 'A stale cache: the page is reloaded first.',
  }),
  BH_NUMERIC_IMPLAUSIBLE: behavioral({
    weight: 60,
    floor: 70,
    cause: 'Age, landmarks and quality contradict each other.',
    falsePositive: 'Unusual faces and cameras; to be measured on honest sessions.',
  }),
  BH_NO_BROWSER_DATA: behavioral({
    weight: 40,
    floor: 30,
    alwaysCounts: true,
    cause:
      'A capture of a released model came without the browser data that the launch page always sends, with data that it cannot send ' +
      'in the browser of the call, or in a call that no browser made. Counts in area D too.',
    falsePositive: 'A proxy that removes `Origin` and `Sec-Fetch-Site`, or changes `User-Agent`.',
  }),

  HO_NETWORK_FAR: row('handoff', {
    weight: 15,
    cause:
      'Desktop and phone are in different countries (needs a list of the operator), or in time zones at least three hours apart.',
    falsePositive: 'VPN, mobile data, browsers that hide their time zone, a laptop that still has the time of home.',
    privacyTool: true,
  }),
  HO_LINK_SHARED: row('handoff', {
    weight: 40,
    cause: 'The handoff or launch address was opened on a third device.',
    falsePositive: 'A tablet that a family shares.',
  }),
  NW_DATACENTER: row('network', {
    weight: 20,
    cause: 'The address belongs to a data centre (needs a list of the operator).',
    falsePositive: 'VPN users.',
    privacyTool: true,
  }),
  NW_TOR: row('network', {
    weight: 30,
    cause: 'The address is an exit of Tor (needs a list of the operator).',
    falsePositive: 'People who protect their privacy.',
    privacyTool: true,
  }),

  DO_SCREEN: document({
    weight: 30,
    cause: 'The document looks like a picture on a screen: its picture has the grid of a display.',
    falsePositive: 'Fine security print; cameras that sharpen strongly.',
  }),
  DO_COPY: document({
    weight: 20,
    cause: 'The document looks like a photocopy: it has no colour.',
    falsePositive: 'Documents that are printed in grey; dim light.',
  }),
  DO_PASTED_PORTRAIT: document({
    weight: 25,
    cause: 'The border of the portrait looks as if another picture was laid over it.',
    falsePositive: 'Documents whose photograph has a hard edge.',
  }),
  DO_SIDES_DISAGREE: document({
    weight: 40,
    cause: 'The barcode of the card and the lines beside it name different people or dates.',
    falsePositive: 'A name that one of them shortens or spells differently.',
  }),
  DO_NO_PORTRAIT: document({
    weight: 10,
    cause: 'No portrait was found on the document.',
    falsePositive: 'Glare on the portrait; documents without one.',
  }),
  DO_REUSED: document({
    weight: 25,
    floor: 30,
    cause:
      'The same document was shown in another session of the tenant on the same day (UTC; needs the setting `documentReuseCheck`).',
    falsePositive: 'People who begin again, or use two services of the same tenant on one day.',
  }),
  DO_NO_MARK: document({
    weight: 5,
    floor: 30,
    cause:
      'The mark by which a repeated document is recognised was asked for and did not come (needs the setting `documentReuseCheck`).',
    falsePositive: 'A document whose field for the number is empty. Every layout that is read has such a field.',
  }),
} as const satisfies Readonly<Record<string, RiskFlagFacts>>

export type RiskFlagCode = keyof typeof RISK_FLAGS

export function isRiskFlagCode(text: string): text is RiskFlagCode {
  return Object.hasOwn(RISK_FLAGS, text)
}

/** The codes in the order of the table, which is the order of every list of flags. */
export const RISK_FLAG_CODES: readonly RiskFlagCode[] = Object.keys(RISK_FLAGS).filter(isRiskFlagCode)
