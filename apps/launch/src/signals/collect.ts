import type { IndicatorPath } from '@ostiary/contract'
import { automationProperties, inconsistentFingerprint, missingWebAPIs } from './anomalies.ts'
import { browserKind } from './browser-kind.ts'
import { isPhoneCamera } from './camera-names.ts'
import type { BrowserKind, Facts, Signal, SignalEnvironment } from './environment.ts'
import * as headless from './headless.ts'
import { askAll } from './probes.ts'
import { mediaDevicesError, noMediaDevices, suspiciousLabels, virtualCameraSoftware } from './virtual-camera.ts'

/** The browser's part of the sealed payload. */
export interface Signals {
  /** One letter per indicator, in the order of SIGNALS: 1 suspicious, 0 not, - not evaluated. */
  indicators: string
  browser: { kind: BrowserKind; phoneCamera?: boolean }
}

/**
 * Evaluates the 21 indicators. Call it once the camera runs, because its name counts. Await it only before the payload is sealed,
 * because it takes as long as its slowest probe. Never rejects.
 */
export async function collectSignals(env: SignalEnvironment, camera?: { label: string }): Promise<Signals> {
  const answers = await askAll(env.probes)
  const kind = browserKind(env, answers)
  const facts: Facts = { ...env, answers, kind, camera }
  const indicators = Object.values(SIGNALS)
    .map((signal) => markOf(signal(facts)))
    .join('')
  const phoneCamera = camera !== undefined && isPhoneCamera(camera.label)
  return { indicators, browser: { kind, ...(phoneCamera && { phoneCamera }) } }
}

/**
 * In the order of the contract's INDICATOR_PATHS; a test compares the two. The page imports only the contract's types, because
 * its values would bring the validator into the bundle.
 */
export const SIGNALS: Readonly<Record<IndicatorPath, Signal>> = {
  'headless.webdriver': headless.webdriver,
  'headless.userAgent': headless.userAgent,
  'headless.webGL': headless.webGL,
  'headless.phantom': headless.phantom,
  'headless.selenium': headless.selenium,
  'headless.chrome': headless.chrome,
  'headless.permissions': headless.permissions,
  'headless.plugins': headless.plugins,
  'headless.languages': headless.languages,
  'headless.webRTC': headless.webRTC,
  'headless.notification': headless.notification,
  'headless.deviceMemory': headless.deviceMemory,
  'headless.connectionType': headless.connectionType,
  'headless.timing': headless.timing,
  'virtualCamera.virtualCameraSoftware': virtualCameraSoftware,
  'virtualCamera.suspiciousLabels': suspiciousLabels,
  'virtualCamera.noMediaDevices': noMediaDevices,
  'virtualCamera.mediaDevicesError': mediaDevicesError,
  'browserAnomalies.missingWebAPIs': missingWebAPIs,
  'browserAnomalies.inconsistentFingerprint': inconsistentFingerprint,
  'browserAnomalies.automationProperties': automationProperties,
}

function markOf(suspicious: boolean | undefined): '1' | '0' | '-' {
  return suspicious === undefined ? '-' : suspicious ? '1' : '0'
}
