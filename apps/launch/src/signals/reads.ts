import type { IndicatorPath } from '@ostiary/contract'

/** Explanations for docs/risk-flags.md. The page does not load them. */
export interface SignalReading {
  /** What counts as suspicious, in terms of what the page reads. */
  suspicious: string
  /** Where it cannot or must not be evaluated. Empty: it is always evaluated. */
  notEvaluated: string
}

export const SIGNAL_READINGS: Readonly<Record<IndicatorPath, SignalReading>> = {
  'headless.webdriver': {
    suspicious: '`navigator.webdriver` is true',
    notEvaluated: 'the property is missing',
  },
  'headless.userAgent': {
    suspicious:
      'the user agent or a brand of `navigator.userAgentData` names a headless browser or a test library; version, system or "mobile" differ between the two',
    notEvaluated: 'there is no user agent; empty client hints are not compared',
  },
  'headless.webGL': {
    suspicious: 'no WebGL context, or a renderer that computes in software; the context is given back at once',
    notEvaluated: 'no canvas can be made, or it throws',
  },
  'headless.phantom': {
    suspicious: '`callPhantom`, `_phantom` or `__phantomas` on the window, or PhantomJS in the user agent',
    notEvaluated: '',
  },
  'headless.selenium': {
    suspicious:
      'names that chromedriver, geckodriver or Selenium leave on window or document, or attributes of the root element',
    notEvaluated: '',
  },
  'headless.chrome': {
    suspicious: 'a Chrome, Edge, Opera or plain Chromium without `window.chrome`; so is every WebView',
    notEvaluated: 'other engines, and Chromium browsers with a name of their own',
  },
  'headless.permissions': {
    suspicious: '`Notification.permission` says denied while `navigator.permissions` says prompt',
    notEvaluated: 'Firefox, Safari, a frame inside another page, one of the two missing',
  },
  'headless.plugins': {
    suspicious: 'a desktop Chromium with an empty `navigator.plugins`; so is one whose PDF viewer is turned off',
    notEvaluated: 'phones, Firefox, Safari',
  },
  'headless.languages': {
    suspicious:
      '`navigator.languages` or `navigator.language` is empty, or the first is another language than the second',
    notEvaluated: 'both are missing',
  },
  'headless.webRTC': {
    suspicious:
      '`RTCPeerConnection` is missing, or makes no offer; the offer is thrown away, so no address is looked up',
    notEvaluated: 'no answer in time',
  },
  'headless.notification': {
    suspicious: 'a desktop Chromium without `Notification`, or a permission that does not exist',
    notEvaluated: 'other browsers without it: iOS, WebViews',
  },
  'headless.deviceMemory': {
    suspicious: '`navigator.deviceMemory` is there and is no power of two up to 128',
    notEvaluated: 'Safari, Firefox',
  },
  'headless.connectionType': {
    suspicious: '`navigator.connection.rtt` is 0',
    notEvaluated: 'Safari, Firefox',
  },
  'headless.timing': {
    suspicious:
      'eight animation frames come faster than 1,000 a second or every 16 ms exactly, or a timer of 40 ms takes less than half',
    notEvaluated: 'hidden tabs, privacy browsers, no answer in time',
  },
  'virtualCamera.virtualCameraSoftware': {
    suspicious: 'the camera in use has the name of known software (OBS, ManyCam and some thirty more)',
    notEvaluated: 'before a camera is granted; a camera without a name',
  },
  'virtualCamera.suspiciousLabels': {
    suspicious:
      'the camera in use is called virtual, fake, loopback and the like, or by the path of a file; so is a phone that serves as a webcam. Known software counts above only',
    notEvaluated: 'before a camera is granted; a camera without a name',
  },
  'virtualCamera.noMediaDevices': {
    suspicious: 'a camera is in use and `enumerateDevices` lists none',
    notEvaluated: 'before a camera is granted; the list fails or does not come in time',
  },
  'virtualCamera.mediaDevicesError': {
    suspicious: '`enumerateDevices` fails',
    notEvaluated: 'it is missing, or does not answer in time',
  },
  'browserAnomalies.missingWebAPIs': {
    suspicious: 'one of ten interfaces is missing that this engine has had since an earlier version',
    notEvaluated: 'engines that we do not know',
  },
  'browserAnomalies.inconsistentFingerprint': {
    suspicious:
      'user agent against `navigator.platform`, vendor and touch; a screen or desktop window without size; the time zone of Intl against that of Date; camera functions or telling properties of `navigator` that a script replaced',
    notEvaluated: 'there is no user agent',
  },
  'browserAnomalies.automationProperties': {
    suspicious:
      'names that Playwright, Puppeteer, Cypress and others leave on window or document; `webdriver` put on `navigator` itself to hide it',
    notEvaluated: '',
  },
}
