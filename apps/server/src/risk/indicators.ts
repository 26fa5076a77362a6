import { type Circumstance, type Indicators, RISK_FLAG_CODES, RISK_FLAGS } from '@ostiary/contract'
import type { RiskFlag } from './evaluate.ts'

/** What the device claims about its browser. A claim can only soften flags that the table marks as softenable. */
export interface BrowserContext {
  kind: 'ordinary' | 'webview' | 'privacy'
  phoneCamera?: boolean | undefined
}

/** The browser flags that suspicious indicators raise, in the order of the table. */
export function flagsOfIndicators(indicators: Indicators, context: BrowserContext = { kind: 'ordinary' }): RiskFlag[] {
  const suspicious = new Set<string>()
  for (const [group, signals] of Object.entries(indicators)) {
    for (const [name, isOn] of Object.entries(signals)) if (isOn) suspicious.add(`${group}.${name}`)
  }
  const present = circumstancesOf(context)
  return RISK_FLAG_CODES.flatMap((code): RiskFlag[] => {
    const { indicator, softened } = RISK_FLAGS[code]
    if (indicator === undefined || !suspicious.has(indicator)) return []
    return softened && present.has(softened.when) ? [{ code, weight: softened.weight }] : [{ code }]
  })
}

function circumstancesOf({ kind, phoneCamera }: BrowserContext): ReadonlySet<Circumstance> {
  const present = new Set<Circumstance>()
  if (kind !== 'ordinary') present.add(kind)
  if (phoneCamera) present.add('phoneCamera')
  return present
}
