import Type from 'typebox'
import type { IndicatorPath, Indicators } from './indicators.ts'
import {
  type OptionalRiskSource,
  PRIVACY_TOOL_MAX,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  RISK_POLICY_VERSION,
  type RiskFlagCode,
} from './risk-flags.ts'

const closed = { additionalProperties: false } as const

/** The paths of all 21 indicators. Device and server rely on their order (`readIndicators`). */
export const INDICATOR_PATHS: readonly IndicatorPath[] = RISK_FLAG_CODES.flatMap((code) => {
  const { indicator } = RISK_FLAGS[code]
  return indicator === undefined ? [] : [indicator]
})

/**
 * Reads what the device sends for the 21 indicators: one character each in the order of `INDICATOR_PATHS`, `1` suspicious, `0` not
 * suspicious, `-` not evaluated. An indicator that was not evaluated is false, because a browser is not suspicious for lacking a Web API.
 */
export function readIndicators(encoded: string): Indicators {
  const isSuspicious = (path: IndicatorPath) => encoded[INDICATOR_PATHS.indexOf(path)] === '1'
  return {
    headless: {
      webdriver: isSuspicious('headless.webdriver'),
      userAgent: isSuspicious('headless.userAgent'),
      webGL: isSuspicious('headless.webGL'),
      phantom: isSuspicious('headless.phantom'),
      selenium: isSuspicious('headless.selenium'),
      chrome: isSuspicious('headless.chrome'),
      permissions: isSuspicious('headless.permissions'),
      plugins: isSuspicious('headless.plugins'),
      languages: isSuspicious('headless.languages'),
      webRTC: isSuspicious('headless.webRTC'),
      notification: isSuspicious('headless.notification'),
      deviceMemory: isSuspicious('headless.deviceMemory'),
      connectionType: isSuspicious('headless.connectionType'),
      timing: isSuspicious('headless.timing'),
    },
    virtualCamera: {
      virtualCameraSoftware: isSuspicious('virtualCamera.virtualCameraSoftware'),
      suspiciousLabels: isSuspicious('virtualCamera.suspiciousLabels'),
      noMediaDevices: isSuspicious('virtualCamera.noMediaDevices'),
      mediaDevicesError: isSuspicious('virtualCamera.mediaDevicesError'),
    },
    browserAnomalies: {
      missingWebAPIs: isSuspicious('browserAnomalies.missingWebAPIs'),
      inconsistentFingerprint: isSuspicious('browserAnomalies.inconsistentFingerprint'),
      automationProperties: isSuspicious('browserAnomalies.automationProperties'),
    },
  }
}

/** The inverse of `readIndicators`: what a device sends. Indicators in neither set are not suspicious. */
export function writeIndicators(
  suspicious: ReadonlySet<IndicatorPath>,
  notEvaluated: ReadonlySet<IndicatorPath> = new Set(),
): string {
  return INDICATOR_PATHS.map((path) => (notEvaluated.has(path) ? '-' : suspicious.has(path) ? '1' : '0')).join('')
}

/** From the highest to the lowest. The level of a score is the first whose `min` it reaches. */
export const RISK_LEVELS = [
  { level: 'CRITICAL', min: 85, recommendation: 'BLOCK' },
  { level: 'HIGH', min: 60, recommendation: 'REVIEW' },
  { level: 'MEDIUM', min: 30, recommendation: 'REVIEW' },
  { level: 'LOW', min: 0, recommendation: 'ALLOW' },
] as const
export type RiskLevel = (typeof RISK_LEVELS)[number]['level']

/** What a host is advised to do; the primary field for access decisions. */
export const RISK_RECOMMENDATIONS = {
  ALLOW: 'Proceed.',
  REVIEW: 'Have a person review the session before you proceed.',
  BLOCK: 'Deny access.',
} as const

const Score = Type.Integer({ minimum: 0, maximum: 100, description: 'Of this source alone, 0 to 100' })
const Flags = Type.Array(Type.Enum([...RISK_FLAG_CODES]), {
  uniqueItems: true,
  description: 'Of this source; docs/risk-flags.md explains each',
})
const RiskSignal = Type.Object({ score: Score, flags: Flags }, { title: 'RiskSignal', ...closed })
const optionalSignal = (description: string) => Type.Object(RiskSignal.properties, { ...closed, description })
const signalOrNull = (description: string) => Type.Union([RiskSignal, Type.Null()], { description })

export const RiskEvaluation = Type.Object(
  {
    score: Type.Integer({ minimum: 0, maximum: 100, description: 'Composite risk, 0 (none seen) to 100' }),
    level: Type.Enum(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'], {
      description: 'Derived from `score`: LOW below 30, MEDIUM below 60, HIGH below 85, CRITICAL from 85',
    }),
    recommendation: Type.Enum(['ALLOW', 'REVIEW', 'BLOCK'], {
      description:
        'The primary field for access decisions: `ALLOW` means proceed, `REVIEW` manual review, `BLOCK` deny. Check ' +
        'first how the session ended: `ALLOW` says nothing about the verdict. Without a verdict, and where all of `signals` are null ' +
        'because nothing was evaluated, it is `REVIEW` at the least; only a chosen outcome of a test session is `ALLOW` then',
    }),
    flags: Type.Array(Type.Enum([...RISK_FLAG_CODES]), {
      uniqueItems: true,
      description: 'Codes of what contributed to the score; docs/risk-flags.md explains each',
    }),
    signals: Type.Object(
      {
        behavioral: signalOrNull(
          'How the face scan went: its timing, and the order of the events in its log. Null when not evaluated',
        ),
        browser: signalOrNull('The browser environment. Null when no browser data arrived'),
        network: Type.Optional(optionalSignal('Where the addresses of the devices belong')),
        handoff: Type.Optional(optionalSignal('How the session changed devices')),
      },
      { ...closed, description: 'The score by source. `network` and `handoff` only where the tenant turned them on' },
    ),
    policyVersion: Type.String({
      description:
        'Extension of the specification: version of the weights. A suffix after `+` is a digest of what the tenant changed in the policy',
    }),
  },
  {
    title: 'RiskEvaluation',
    ...closed,
    description: 'How much speaks for deceit, and what you are advised to do',
    examples: [
      {
        score: 48,
        level: 'MEDIUM',
        recommendation: 'REVIEW',
        flags: ['BR_WEBGL', 'BR_TIMING'],
        signals: { behavioral: { score: 0, flags: [] }, browser: { score: 48, flags: ['BR_WEBGL', 'BR_TIMING'] } },
        policyVersion: RISK_POLICY_VERSION,
      },
    ],
  },
)
export type RiskEvaluation = Type.Static<typeof RiskEvaluation>
export type RiskSignal = Type.Static<typeof RiskSignal>

const flagOverride = (title: string, maximum: number) =>
  Type.Object(
    {
      weight: Type.Optional(Type.Integer({ minimum: 0, maximum })),
      floor: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum,
          description: 'While the flag is raised, the score is at least this; 0 is no floor',
        }),
      ),
    },
    { title, ...closed, description: 'A weight of 0 together with a floor of 0 switches the flag off' },
  )
const RiskFlagOverride = flagOverride('RiskFlagOverride', 100)
/** For flags that privacy tools such as Tor Browser raise for honest users. The schema has the maximum, so every way to set overrides enforces it. */
const PrivacyFlagOverride = flagOverride('PrivacyFlagOverride', PRIVACY_TOOL_MAX)
export type RiskFlagOverride = Type.Static<typeof RiskFlagOverride>

/** What a tenant may change in the risk policy. */
export const RiskOverrides = Type.Object(
  {
    flags: Type.Optional(
      Type.Unsafe<{ [Code in RiskFlagCode]?: RiskFlagOverride }>(
        Type.Object(
          Object.fromEntries(
            RISK_FLAG_CODES.map((code) => [
              code,
              Type.Optional(RISK_FLAGS[code].privacyTool ? PrivacyFlagOverride : RiskFlagOverride),
            ]),
          ),
          {
            ...closed,
            description: `Weight and floor by flag; at most ${PRIVACY_TOOL_MAX} for flags that privacy tools raise for honest users`,
          },
        ),
      ),
    ),
    highBlocks: Type.Optional(Type.Boolean({ description: 'HIGH recommends BLOCK instead of REVIEW' })),
    sources: Type.Optional(
      Type.Array(Type.Enum(['network', 'handoff'] satisfies OptionalRiskSource[]), {
        uniqueItems: true,
        maxItems: 2,
        description: 'Further sources that contribute to the score; each gets its entry in `signals`',
      }),
    ),
  },
  { title: 'RiskOverrides', ...closed, examples: [{ flags: { BR_WEBGL: { weight: 10 } }, highBlocks: true }] },
)
export type RiskOverrides = Type.Static<typeof RiskOverrides>
