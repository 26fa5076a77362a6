import Type from 'typebox'

const flag = Type.Boolean()
const closed = { additionalProperties: false } as const

const Headless = Type.Object(
  {
    webdriver: flag,
    userAgent: flag,
    webGL: flag,
    phantom: flag,
    selenium: flag,
    chrome: flag,
    permissions: flag,
    plugins: flag,
    languages: flag,
    webRTC: flag,
    notification: flag,
    deviceMemory: flag,
    connectionType: flag,
    timing: flag,
  },
  closed,
)
const VirtualCamera = Type.Object(
  { virtualCameraSoftware: flag, suspiciousLabels: flag, noMediaDevices: flag, mediaDevicesError: flag },
  closed,
)
const BrowserAnomalies = Type.Object(
  { missingWebAPIs: flag, inconsistentFingerprint: flag, automationProperties: flag },
  closed,
)

/** Raw and unweighted: what the browser showed. Weights are a matter of `riskEvaluation` alone. */
export const Indicators = Type.Object(
  { headless: Headless, virtualCamera: VirtualCamera, browserAnomalies: BrowserAnomalies },
  {
    title: 'Indicators',
    ...closed,
    description:
      'Raw browser signals: true when suspicious activity is detected. What a browser cannot be asked is false, ' +
      'because a missing interface is no suspicion. The whole object is absent when no browser data arrived.',
  },
)
export type Indicators = Type.Static<typeof Indicators>

/** `headless.webdriver` and the twenty others. */
export type IndicatorPath = {
  [Group in keyof Indicators]: `${Group}.${keyof Indicators[Group] & string}`
}[keyof Indicators]
