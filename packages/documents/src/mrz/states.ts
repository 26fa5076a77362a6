/** ISO 3166-1 alpha-3, all 249. */
export const ISO_3166_ALPHA_3: readonly string[] = words(`
  ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR BHR BHS BIH
  BLM BLR BLZ BMU BOL BRA BRB BRN BTN BVT BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG COK COL COM CPV CRI CUB
  CUW CXR CYM CYP CZE DEU DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH FIN FJI FLK FRA FRO FSM GAB GBR GEO
  GGY GHA GIB GIN GLP GMB GNB GNQ GRC GRD GRL GTM GUF GUM GUY HKG HMD HND HRV HTI HUN IDN IMN IND IOT IRL IRN
  IRQ ISL ISR ITA JAM JEY JOR JPN KAZ KEN KGZ KHM KIR KNA KOR KWT LAO LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA
  MAC MAF MAR MCO MDA MDG MDV MEX MHL MKD MLI MLT MMR MNE MNG MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER
  NFK NGA NIC NIU NLD NOR NPL NRU NZL OMN PAK PAN PCN PER PHL PLW PNG POL PRI PRK PRT PRY PSE PYF QAT REU ROU
  RUS RWA SAU SDN SEN SGP SGS SHN SJM SLB SLE SLV SMR SOM SPM SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA
  TCD TGO THA TJK TKL TKM TLS TON TTO TUN TUR TUV TWN TZA UGA UKR UMI URY USA UZB VAT VCT VEN VGB VIR VNM VUT
  WLF WSM YEM ZAF ZMB ZWE`)

/** ICAO 9303 part 3, section 5: codes that ISO 3166-1 does not have. */
export const ICAO_CODES: Readonly<Record<string, string>> = {
  D: 'Germany',
  EUE: 'European Union',
  GBD: 'British Overseas Territories citizen',
  GBN: 'British National (Overseas)',
  GBO: 'British Overseas citizen',
  GBP: 'British protected person',
  GBS: 'British subject',
  IAO: 'International Civil Aviation Organization',
  NTZ: 'Neutral Zone',
  RKS: 'Kosovo',
  UNA: 'Specialized agency of the United Nations',
  UNK: 'United Nations Interim Administration Mission in Kosovo',
  UNO: 'United Nations',
  UTO: 'Utopia, for specimens',
  XBA: 'African Development Bank',
  XCC: 'Caribbean Community',
  XCE: 'Council of Europe',
  XCO: 'Common Market for Eastern and Southern Africa',
  XDC: 'Southern African Development Community',
  XEC: 'Economic Community of West African States',
  XES: 'Organization of Eastern Caribbean States',
  XIM: 'African Export-Import Bank',
  XMP: 'Parliamentary Assembly of the Mediterranean',
  XOM: 'Sovereign Military Order of Malta',
  XPO: 'Interpol',
  XXA: 'Stateless person',
  XXB: 'Refugee',
  XXC: 'Refugee other than under the 1951 convention',
  XXX: 'Unspecified nationality',
}

/** Every code that may stand for an issuing state, an organisation or a nationality. */
export const STATE_CODES: ReadonlySet<string> = new Set([...ISO_3166_ALPHA_3, ...Object.keys(ICAO_CODES)])

/** Takes the three characters as they are printed (`D<<`). */
export function isStateCode(printed: string): boolean {
  return printed.length === 3 && STATE_CODES.has(printed.replace(/<+$/, ''))
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
