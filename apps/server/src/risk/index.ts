export {
  type Contribution,
  contributions,
  dryRun,
  evaluateRisk,
  type RiskFlag,
  type RiskInput,
  withoutVerdict,
} from './evaluate.ts'
export { type BrowserContext, flagsOfIndicators } from './indicators.ts'
export { networkFlags, type Place, placeOf } from './network-flags.ts'
export { countNetworks, createNetworkLists, type NetworkListFiles } from './network-list-files.ts'
export { NETWORK_LISTS, type NetworkFacts } from './network-lists.ts'
export { parseOverrides, storedOverrides } from './overrides.ts'
