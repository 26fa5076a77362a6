/** Words of a name that are no name: titles, particles, patronymic markers and the pieces of Arabic compounds. */

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

/**
 * A title says nothing about who somebody is. Left out on purpose: titles that are also usual names, such as Emir,
 * Sultan, Malik, Mirza, Prince, King, Pan, Tuan, Sri, Sardar, Don, Pastor, and "md", which is Mohammad in Bangladesh.
 */
export const TITLES: ReadonlySet<string> = wordSet(`
  mr mrs ms miss mister missis mx messrs master mme mlle monsieur madame mademoiselle madam
  dr doctor doktor doctora docteur drs prof professor professeur profesor profesora professora dozent docent
  sir lady lord dame hon honorable honourable excellency excellence excelencia highness majesty hrh
  president presidente prezident vicepresident minister ministre ministro senator senador congressman congresswoman
  deputy diputado deputat ambassador ambassadeur embajador consul governor gobernador gubernator judge magistrate
  chancellor premier chairman chairwoman chairperson secretary director direktor ceo cfo
  general gen gral generale generalmajor generalleutnant lieutenant lt ltgen majgen brigadier brig colonel col coronel
  polkovnik podpolkovnik leytenant oberst oberstleutnant major maj captain capt capitan capitaine hauptmann kapitan
  kapitein sergeant sgt corporal cpl private pvt admiral adm commodore commander cmdr cdr comandante marshal marechal
  mariscal sepahbod sarlashkar sartip sarhang
  reverend rev fr monsignor msgr archbishop rabbi
  sheikh shaikh shaykh sheik cheikh sheykh sheikha shaikha chaikh shekh cheik cheick
  haji hajji hajj haj hadji hadj alhaj alhaji alhajj elhadj elhadji hajjah hajja hoca
  mullah mulla mollah maulavi mawlawi maulawi molvi moulvi maulvi mawlavi maulana mawlana moulana mowlana moulavi mawlvi
  ayatollah ayatullah ayatolah hojatoleslam hojjatoleslam hujjatoleslam hojatolislam hojjat qari mufti akhund akhond
  akhoond ustad ustadh ustaz muhandis mohandes engineer engr ing ingenieur ingeniero ingegnere
  herr frau fraulein dhr mevr mevrouw meneer signor signora signore signorina dott dottore dottoressa avv avvocato
  senor senora senorita sr sra srta lic licenciado licenciada abogado senhor senhora exmo exma
  dipl diplom magister mag msc mba bsc phd llb llm dds dvm cpa cfa mbbs esq esquire obe mbe cbe kbe qc mp mep mla
  jr junior jnr snr senior ii iii iv
  pani panstwo gospodin gospozha gospodja tovarishch tovarysh comrade
  bey bayan hanim
  shri shrimati smt shriman tmt janab jenab sahib saheb sahab sahiba
  puan encik datuk dato datin tengku tunku ustazah cik khun phra thanphuying bapak bpk raden
  viscount viscountess countess duchess baroness archduke
  late
`)

/** Words that belong to a name but occur in so many that they identify nobody. */
export const PARTICLES: ReadonlySet<string> = wordSet(`
  al el ul ol ad ar as at az ash ath il ed es ez
  bin ibn ben bint binti bent ibnu ibni abu abou abo abi aboo aba umm um oum abd ould wuld weld mint aal
  de da do das dos du des del della delle dello degli dei di la le las los les y e
  van von der den ter ten vander vanden vande vom zu zum zur af av auf ap
  oglu ogly oghlu ogli oghli kizi kyzy qizi gizi uulu
`)

/** Words that stand between a child and the father: the order of what they join matters. */
export const PATRONYMIC_MARKERS: ReadonlySet<string> = wordSet(`
  bin ibn ben bint binti bent ibnu ibni ould wuld weld mint oglu ogly oghlu ogli oghli kizi kyzy gizi qizi kyz qyzy
  uulu walad wald
`)

/**
 * Endings of the names "of the faith": "X al din", "X ud din", "Xuddin" and "Xeddine" are one name.
 * The bare words come first, for a reader that has already seen the article. `_` stands for the space between two words.
 */
export const DIN_FORMS: readonly string[] = words(`
  din deen dine uddin uddeen addin aldeen eddin eddine edine oddin oddine iddin ettin ettine
  ud_din ud_deen ul_din al_din al_deen ad_din ad_deen el_din el_dine ed_din ed_dine ol_din od_din
`)

/**
 * Endings of the names "of God": "X allah", "X ullah" and "Xullah" are one name. Forms that are names of their own,
 * here Alla and Ulla, above Edin, Udin and Aldin, are left out: they would be glued to the name before them.
 */
export const ULLAH_FORMS: readonly string[] = words(`
  ullah ullahi allah ollah u_llah ul_lah al_lah
`)

/** Beginnings of the names "servant of the ...": "Abd al X", "Abdul X", "Abdel X" and "AbdulX" are one name. */
export const ABDUL_FORMS: readonly string[] = words(`
  abdul abdel abdal abdol abdoul abdool abdil
  abd_al abd_ul abd_el abd_ol abdu_l abdou_l abd_il
  abdur abder abdar abd_ur abd_ar abd_er abdus abdes abdas abd_us abd_as abd_es abdun abden abd_un abd_an abd_en
  abdud abded abd_ud abd_ad abd_ed abdush abdesh abd_ush abd_ash abd_esh abduz abdez abd_az abd_ez abdut abdet abd_at
`)
