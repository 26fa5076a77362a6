import Type from 'typebox'

const flag = (description: string) => Type.Boolean({ description })
const closed = { additionalProperties: false } as const

const Headless = Type.Object(
  {
    webdriver: flag('The browser says that a program drives it'),
    userAgent: flag('The user agent names a headless browser or a test library, or contradicts the client hints'),
    webGL: flag('WebGL is missing or drawn by software'),
    phantom: flag('Traces of PhantomJS'),
    selenium: flag('Traces of Selenium or chromedriver'),
    chrome: flag('A Chrome without `window.chrome`; so is every WebView'),
    permissions: flag('Two interfaces contradict each other about the permission for notifications'),
    plugins: flag('A desktop Chromium without plugins'),
    languages: flag('The languages are empty or contradict each other'),
    webRTC: flag('WebRTC is missing or does not work'),
    notification: flag('The notification API behaves as in a headless browser'),
    deviceMemory: flag('The value of the device memory API is missing or impossible'),
    connectionType: flag('The network API reports a round trip of 0 ms'),
    timing: flag('Timers or animation frames run as no screen would drive them'),
  },
  { ...closed, description: 'Signs of a browser without a screen, or one that a program drives' },
)
const VirtualCamera = Type.Object(
  {
    virtualCameraSoftware: flag('The camera is a known virtual camera'),
    suspiciousLabels: flag('The name of the camera looks like a virtual one'),
    noMediaDevices: flag('A camera is in use and the browser lists none'),
    mediaDevicesError: flag('Listing the cameras failed'),
  },
  { ...closed, description: 'Signs of a camera that is software' },
)
const BrowserAnomalies = Type.Object(
  {
    missingWebAPIs: flag('Interfaces are missing that this engine has'),
    inconsistentFingerprint: flag('Facts about the browser contradict each other'),
    automationProperties: flag('Properties that automation tools leave behind'),
  },
  { ...closed, description: 'What does not fit the browser that this says it is' },
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
