import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRIVACY_TOOL_MAX, RISK_FLAG_CODES, RISK_FLAGS, RISK_POLICY_VERSION } from './risk-flags.ts'

/** Typed from the reference of flags, not from the table: code, source, weight, floor (0: no floor). */
const REFERENCE = `
BR_WEBDRIVER            browser     80  85
BR_USER_AGENT           browser     50  60
BR_WEBGL                browser     25  0
BR_PHANTOM              browser     80  85
BR_SELENIUM             browser     80  85
BR_CHROME               browser     30  0
BR_PERMISSIONS          browser     25  0
BR_PLUGINS              browser     10  0
BR_LANGUAGES            browser     20  0
BR_WEBRTC               browser     10  0
BR_NOTIFICATION         browser     10  0
BR_DEVICE_MEMORY        browser     5   0
BR_CONNECTION           browser     5   0
BR_TIMING               browser     30  0
BR_VCAM_SOFTWARE        browser     70  75
BR_VCAM_LABEL           browser     50  60
BR_NO_MEDIA_DEVICES     browser     30  0
BR_MEDIA_ERROR          browser     15  0
BR_MISSING_APIS         browser     20  0
BR_FINGERPRINT          browser     40  0
BR_AUTOMATION           browser     70  80
BH_TOO_FAST             behavioral  50  60
BH_TOO_SLOW             behavioral  10  0
BH_STEP_ORDER           behavioral  60  70
BH_LOG_GAP              behavioral  40  0
BH_CHAIN_BROKEN         behavioral  90  95
BH_CLOCK_SKEW           behavioral  5   0
BH_TIME_REGRESSION      behavioral  50  60
BH_FRAMES_STATIC        behavioral  60  70
BH_FRAMES_REPEAT        behavioral  80  85
BH_FPS_SYNTHETIC        behavioral  30  0
BH_CHALLENGE_MISMATCH   behavioral  60  70
BH_CHALLENGE_LATENCY    behavioral  60  70
BH_AGE_UNSTABLE         behavioral  25  0
BH_AGE_IN_DOUBT         behavioral  0   30
BH_RETRY_EXCESS         behavioral  20  0
BH_TAB_HIDDEN           behavioral  40  0
BH_DEVICE_SWITCH        behavioral  50  60
BH_RESULT_NO_CAPTURE    behavioral  90  95
BH_PAYLOAD_REPLAY       behavioral  95  95
BH_MODEL_MISMATCH       behavioral  60  75
BH_NUMERIC_IMPLAUSIBLE  behavioral  60  70
BH_NO_BROWSER_DATA      behavioral  40  30
HO_NETWORK_FAR          handoff     15  0
HO_LINK_SHARED          handoff     40  0
NW_DATACENTER           network     20  0
NW_TOR                  network     30  0
DO_SCREEN               document    30  0
DO_COPY                 document    20  0
DO_PASTED_PORTRAIT      document    25  0
DO_SIDES_DISAGREE       document    40  0
DO_NO_PORTRAIT          document    10  0
DO_REUSED               document    25  30
DO_NO_MARK              document    5   30
`

test('the table has every flag of the reference with its source, weight and floor, in this order', () => {
  assert.deepEqual(
    RISK_FLAG_CODES.map((code) => {
      const { source, weight, floor } = RISK_FLAGS[code]
      return `${code} ${source} ${weight} ${floor}`
    }),
    REFERENCE.trim()
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')),
  )
  assert.equal(RISK_POLICY_VERSION, '4', 'a change of the table above needs a new version')
})

test('three circumstances soften one flag each, below its weight', () => {
  const softened = RISK_FLAG_CODES.flatMap((code) => {
    const facts = RISK_FLAGS[code]
    return facts.softened ? [[code, facts.softened.when, facts.softened.weight]] : []
  })
  assert.deepEqual(softened, [
    ['BR_CHROME', 'webview', 10],
    ['BR_VCAM_LABEL', 'phoneCamera', 20],
    ['BR_FINGERPRINT', 'privacy', 25],
  ])
})

test('the flags that privacy tools raise stay at MEDIUM or below alone', () => {
  const marked = RISK_FLAG_CODES.filter((code) => RISK_FLAGS[code].privacyTool)
  assert.deepEqual(marked, [
    'BR_WEBGL',
    'BR_PERMISSIONS',
    'BR_LANGUAGES',
    'BR_WEBRTC',
    'BR_FINGERPRINT',
    'HO_NETWORK_FAR',
    'NW_DATACENTER',
    'NW_TOR',
  ])
  for (const code of marked) assert.ok(Math.max(RISK_FLAGS[code].weight, RISK_FLAGS[code].floor) <= PRIVACY_TOOL_MAX)
})

test('only browser flags have an indicator, and each has its own', () => {
  const indicators = RISK_FLAG_CODES.map((code) => RISK_FLAGS[code].indicator)
  assert.deepEqual(
    RISK_FLAG_CODES.filter((_, index) => indicators[index] !== undefined),
    RISK_FLAG_CODES.filter((code) => RISK_FLAGS[code].source === 'browser'),
  )
  assert.equal(new Set(indicators.filter((path) => path !== undefined)).size, 21)
})

test('every flag says its cause and its honest causes in sentences', () => {
  for (const code of RISK_FLAG_CODES) {
    const { cause, falsePositive } = RISK_FLAGS[code]
    for (const text of [cause, falsePositive]) assert.match(text, /^[A-Z].*[.)]$/, code)
  }
})
