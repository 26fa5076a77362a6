/**
 * Country names as OFAC and the UN write them, to ISO 3166 codes. Names without one plain meaning ("Korea", "former Soviet
 * Union") are not here and stay words.
 */
const TABLE = `
af afghanistan; al albania; dz algeria; ad andorra; ao angola; ag antigua and barbuda; ar argentina; am armenia; aw aruba;
au australia; at austria; az azerbaijan; bs bahamas|bahamas, the|the bahamas; bh bahrain; bd bangladesh; bb barbados;
by belarus; be belgium; bz belize; bj benin; bm bermuda; bt bhutan; bo bolivia|bolivia (plurinational state of);
ba bosnia and herzegovina; bw botswana; br brazil; vg british virgin islands|virgin islands, british;
bn brunei|brunei darussalam; bg bulgaria; bf burkina faso; mm burma|myanmar; bi burundi; cv cabo verde|cape verde; kh cambodia;
cm cameroon; ca canada; ky cayman islands; cf central african republic; td chad; cl chile;
cn china|people's republic of china; co colombia; km comoros; ck cook islands; cg congo|congo, republic of the|republic of the congo;
cd congo, democratic republic of the|democratic republic of the congo; cr costa rica;
ci cote d ivoire|cote d'ivoire|côte d'ivoire|ivory coast; hr croatia; cu cuba; cy cyprus; cz czech republic|czechia;
dk denmark; dj djibouti; dm dominica; do dominican republic; ec ecuador; eg egypt; sv el salvador; gq equatorial guinea;
er eritrea; ee estonia; sz eswatini|swaziland; et ethiopia; fj fiji; fi finland; fr france; ga gabon; gm gambia|the gambia|gambia, the;
ge georgia; de germany; gh ghana; gi gibraltar; gr greece; gd grenada; gt guatemala; gg guernsey; gn guinea; gw guinea-bissau;
gy guyana; ht haiti; hn honduras; hk hong kong|china, hong kong special administrative region; hu hungary; is iceland;
in india; id indonesia; ir iran|iran (islamic republic of)|islamic republic of iran; iq iraq; ie ireland;
im isle of man|man, isle of; il israel; it italy; jm jamaica; jp japan; je jersey; jo jordan; kz kazakhstan; ke kenya;
ki kiribati; kp korea, north|north korea|democratic people's republic of korea; kr korea, south|south korea|republic of korea;
xk kosovo; kw kuwait; kg kyrgyzstan; la laos|lao people's democratic republic; lv latvia; lb lebanon; ls lesotho; lr liberia;
ly libya|libyan arab jamahiriya; li liechtenstein; lt lithuania; lu luxembourg; mo macau|macao; mg madagascar; mw malawi;
my malaysia; mv maldives; ml mali; mt malta; mh marshall islands; mr mauritania; mu mauritius; mx mexico;
fm micronesia|micronesia (federated states of); md moldova|republic of moldova; mc monaco; mn mongolia; me montenegro;
ma morocco; mz mozambique; na namibia; nr nauru; np nepal; nl netherlands|the netherlands; nz new zealand; ni nicaragua;
ne niger; ng nigeria; mk north macedonia|north macedonia, the republic of|macedonia, the former yugoslav republic of; no norway; om oman; pk pakistan; pw palau;
ps palestinian|state of palestine|palestine|west bank|gaza; pa panama; pg papua new guinea; py paraguay; pe peru; ph philippines;
pl poland; pt portugal; pr puerto rico; qa qatar; ro romania; ru russia|russian federation; rw rwanda; kn saint kitts and nevis|st. kitts and nevis|st. kitts & nevis;
lc saint lucia; vc saint vincent and the grenadines|st. vincent and the grenadines; ws samoa; sm san marino; st sao tome and principe; sa saudi arabia;
sn senegal; rs serbia; sc seychelles; sl sierra leone; sg singapore; sk slovakia; si slovenia; sb solomon islands; so somalia;
za south africa; ss south sudan; es spain; lk sri lanka; sd sudan; sr suriname; se sweden; ch switzerland;
sy syria|syrian arab republic; tw taiwan; tj tajikistan; tz tanzania|united republic of tanzania; th thailand; tl timor-leste;
tg togo; to tonga; tt trinidad and tobago; tn tunisia; tr turkey|türkiye; tm turkmenistan; tv tuvalu; ug uganda; ua ukraine;
ae united arab emirates; gb united kingdom|united kingdom of great britain and northern ireland;
us united states|united states of america; uy uruguay; uz uzbekistan; vu vanuatu; va vatican city|holy see;
ve venezuela|venezuela (bolivarian republic of); vn vietnam|viet nam; ye yemen; zm zambia; zw zimbabwe
`
const UNKNOWN = new Set(['', '-0-', 'na', 'n/a', 'unknown', 'undetermined', 'none identified'])

const CODES = new Map(
  TABLE.split(';').flatMap((entry) => {
    const [, code = '', names = ''] = /^(\w\w) (.+)$/.exec(entry.trim()) ?? []
    return names.split('|').map((name) => [name, code] as const)
  }),
)

/** The code of a country named in words, or the words themselves in lower case. */
export function countriesNamed(words: readonly string[]): string[] {
  return words.flatMap((word) => {
    const name = plain(word)
    return UNKNOWN.has(name) ? [] : [CODES.get(name) ?? name]
  })
}

/** The same where two letters are a code already, so that `na` is Namibia. */
export function countriesCoded(words: readonly string[]): string[] {
  return words.flatMap((word) => {
    if (/^[a-z]{2}$/.test(word)) return word
    const name = plain(word)
    return /^[a-z]{2}$/.test(name) ? name : countriesNamed([name])
  })
}

function plain(word: string): string {
  return word
    .normalize('NFC')
    .replaceAll('’', "'")
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(/^region: /, '')
}
