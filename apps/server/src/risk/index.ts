export { type Contribution, contributions, dryRun, evaluateRisk, type RiskFlag, type RiskInput } from './evaluate.ts'
export { type BrowserContext, flagsOfIndicators } from './indicators.ts'
export { parseOverrides, storedOverrides } from './overrides.ts'
