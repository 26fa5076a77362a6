/** Company names: legal forms by kind, words that identify nothing, numbers and short names of countries. */

/** Forms of one kind, the canonical one first; a form may go over several lines. `_` stands for a space. */
const FORMS = `
llc: limited_liability_company limited_liability_co ltd_liability_company ooo obshchestvo_s_ogranichennoy_otvetstvennostyu
  obshchestvo_s_ogranichennoi_otvetstvennostyu obschestvo_s_ogranichennoy_otvetstvennostyu tov
  tovarystvo_z_obmezhenoiu_vidpovidalnistiu tovarystvo_z_obmezhenoyu_vidpovidalnistyu mchj mas_uliyati_cheklangan_jamiyat
  mmc mehdud_mesuliyyetli_cemiyyet shpk shoqeri_me_pergjegjesi_te_kufizuar wll with_limited_liability spc ehf
ltd: limited ltd_co co_ltd company_limited limited_company pvt_ltd private_limited pty_ltd pte_ltd proprietary_limited
  pty pte pvt private_limited_company sdn_bhd sendirian_berhad bhd berhad ltee limitee limitada ltda lda ltd_sti
  limited_sirketi ltd_sirketi you_xian_gong_si you_xian_ze_ren_gong_si yuhan_hoesa yugen_kaisha
gmbh: gesellschaft_mit_beschrankter_haftung mbh ges_m_b_h gesmbh g_m_b_h ug unternehmergesellschaft ug_haftungsbeschrankt
srl: s_r_l sarl s_a_r_l societe_a_responsabilite_limitee sociedad_de_responsabilidad_limitada s_de_rl s_de_rl_de_cv
  societa_a_responsabilita_limitata societate_cu_raspundere_limitata sociedad_limitada sl slu eurl suarl eirl srls
sro: s_r_o spol_s_r_o spolecnost_s_rucenim_omezenym spolocnost_s_rucenim_obmedzenym
zoo: sp_z_o_o sp_zoo spzoo spolka_z_ograniczona_odpowiedzialnoscia spolka_z_o_o
doo: d_o_o drustvo_s_ogranicenom_odgovornoscu drustvo_sa_ogranicenom_odgovornoscu druzba_z_omejeno_odgovornostjo dooel
eood: ood e_o_o_d o_o_d druzhestvo_s_ogranichena_otgovornost ednolichno_druzhestvo_s_ogranichena_otgovornost
bv: b_v bvba besloten_vennootschap besloten_vennootschap_met_beperkte_aansprakelijkheid
kft: korlatolt_felelossegu_tarsasag
epe: etaireia_periorismenis_efthynis ike idiotiki_kefalaiouchiki_etaireia
uab: uzdaroji_akcine_bendrove sia sabiedriba_ar_ierobezotu_atbildibu osauhing oue
aps: anpartsselskab
jsc: joint_stock_company joint_stock_co j_s_c ojsc open_joint_stock_company pjsc public_joint_stock_company ao oao pao
  aktsionernoe_obshchestvo otkrytoe_aktsionernoe_obshchestvo publichnoe_aktsionernoe_obshchestvo at pat vat
  aktsionerne_tovarystvo publichne_aktsionerne_tovarystvo saoc saog psc qsc qpsc ksc bsc_c pjs
cjsc: closed_joint_stock_company zao zat zakrytoe_aktsionernoe_obshchestvo nepublichnoe_aktsionernoe_obshchestvo
  private_joint_stock_company prjsc prat pryvatne_aktsionerne_tovarystvo
plc: public_limited_company public_limited p_l_c tbk terbuka public_company_limited pcl
ag: aktiengesellschaft a_g
sa: s_a societe_anonyme sociedad_anonima sociedade_anonima sa_de_cv s_a_de_c_v sapi_de_cv sociedad_anonima_de_capital_variable
  anonymi_etaireia anonim_sirketi anonim_sirket sal saca saci spolka_akcyjna
sas: s_a_s societe_par_actions_simplifiee sociedad_por_acciones_simplificada sasu
spa: s_p_a societa_per_azioni societe_par_actions
nv: n_v naamloze_vennootschap
ab: aktiebolag aktiebolaget publ abp
as: a_s aksjeselskap aktieselskab asa allmennaksjeselskap akciova_spolecnost aktsiaselts
oy: osakeyhtio oyj julkinen_osakeyhtio
kk: kabushiki_kaisha kabushiki_gaisha k_k zhu_shi_hui_she jusik_hoesa gu_fen_you_xian_gong_si
pt: perseroan_terbatas perseroan
ad: akcionarsko_drustvo aktsionerno_druzhestvo ead dionicko_drustvo d_d
zrt: nyrt reszvenytarsasag zartkoruen_mukodo_reszvenytarsasag rt
se: societas_europaea
corp: corporation corporacion corporacao korporatsiya korporatsiia korporaciya corporate
inc: incorporated incorporation incorporee
co: company compagnie compania companhia compagnia kompaniya kompaniia kompanija kampani cie cia sirket sirketi sherkat
  sharika sharikat perusahaan gong_si kaisha hoesa
lp: limited_partnership l_p kg kommanditgesellschaft k_g gmbh_co_kg gmbh_und_co_kg kommanditselskab kommandiittiyhtio
  societe_en_commandite sociedad_en_comandita komanditni_spolecnost spolka_komandytowa commanditaire_vennootschap
llp: limited_liability_partnership l_l_p too tovarishchestvo_s_ogranichennoy_otvetstvennostyu
  tovarishchestvo_s_ogranichennoi_otvetstvennostyu zhshs jauapkershiligi_shekteuli_seriktestigi partg partgmbb
gp: general_partnership ohg offene_handelsgesellschaft snc societe_en_nom_collectif societa_in_nome_collettivo vof
  vennootschap_onder_firma spolka_jawna sj gbr gesellschaft_burgerlichen_rechts polnoe_tovarishchestvo
kgaa: kommanditgesellschaft_auf_aktien partnership_limited_by_shares sca societe_en_commandite_par_actions
coop: cooperative co_op co_operative kooperativ cooperativa genossenschaft eg eingetragene_genossenschaft spoldzielnia
  kooperatif scop cooperatie osuuskunta proizvodstvennyy_kooperativ
foundation: stiftung fondation fundacion fundacao fondazione fundacja vakfi vakif stichting fond waqf bonyad muassasa
association: assn assoc verein ev eingetragener_verein asociacion associacao associazione assotsiatsiya stowarzyszenie
  dernek dernegi asbl vzw forening zrzeszenie jamiyat
ngo: non_governmental_organization non_profit_organization nonprofit ong charity charitable_organization
  ano avtonomnaya_nekommercheskaya_organizatsiya nekommercheskoe_partnerstvo obshchestvennaya_organizatsiya
soe: state_owned_enterprise state_enterprise state_unitary_enterprise federal_state_unitary_enterprise fgup gup mup
  federalnoe_gosudarstvennoe_unitarnoe_predpriyatie gosudarstvennoe_unitarnoe_predpriyatie derzhavne_pidpryiemstvo
  unitary_enterprise republican_unitary_enterprise rup kazenne_pidpryiemstvo gosudarstvennoe_predpriyatie fkp
private_enterprise: chastnoe_predpriyatie pryvatne_pidpryiemstvo chup chtup private_unitary_enterprise
sole_trader: ip individualnyy_predprinimatel individual_entrepreneur fop fizychna_osoba_pidpryiemets sole_proprietorship
  sole_proprietor einzelunternehmen ek eingetragener_kaufmann entreprise_individuelle empresario_individual
free_zone: fze free_zone_establishment fzco fzc fz_llc fzllc fz_co free_zone_company dmcc
trust: trustee trustees treuhand
fund: investment_fund investitsionnyy_fond fonds fondo sicav fcp
jv: joint_venture sovmestnoe_predpriyatie spilne_pidpryiemstvo
consortium: konsortsium consorcio consorzio konsortium
branch: filial filiale sucursal succursale zweigniederlassung branch_office predstavitelstvo representative_office
institute: institut instituto istituto research_institute nii nauchno_issledovatelskiy_institut
  nauchno_issledovatelskii_institut scientific_research_institute
production_association: npo nauchno_proizvodstvennoe_obedinenie proizvodstvennoe_obedinenie
  scientific_production_association science_and_production_association research_and_production_association npp
  nauchno_proizvodstvennoe_predpriyatie research_and_production_enterprise scientific_production_enterprise
design_bureau: konstruktorskoe_byuro kb okb skb tskb experimental_design_bureau special_design_bureau
plant: zavod factory fabrik fabrika fabryka usine fabbrica works werk zavodu
bank: banque banco banca banka bankas pankki jsc_bank akb aktsionernyy_bank
university: universitet universitat universite universidad universidade universita uniwersytet daneshgah jamia
holding: holdings holding_company kholding holdco
group: gruppe grupo groupe gruppo gruppa grupa grubu jituan ji_tuan gruppa_kompaniy group_of_companies
brothers: bros freres hermanos irmaos fratelli gebruder gebr biraderler
unlimited: unlimited_company ultd unltd
`

export const COMPANY_FORMS: readonly string[] = FORMS.trim()
  .split(/\n(?=\S)/)
  .map((group) => group.replace(':', '').split(/\s+/).join(' '))

/** Words that so many organisations share that meeting one of them says next to nothing. */
export const COMPANY_FILLER: ReadonlySet<string> = new Set(
  `the of and & for in to by on at an a de del della des du la le les el los las und et y e i der die das von van und fur
  mit im am zu og och ja i na dlya po za imeni im
  co company companies group groups holding holdings international intl global worldwide world general national
  trading trade trader traders commercial commerce business enterprise enterprises industries industrial industry
  services service solutions systems management consulting consultancy development investment investments invest
  partners partner associates brothers sons bros new united main central department office branch center centre`.split(
    /\s+/,
  ),
)

const COUNTING = `
1 first 1st erste erster premier premiere primero primera primo prima primeiro pervyy pervaya pershyi
2 second 2nd zweite zweiter deuxieme segundo segunda secondo vtoroy vtoraya ii
3 third 3rd dritte dritter troisieme tercero tercera terzo terceiro tretiy tretya iii
4 fourth 4th vierte vierter quatrieme cuarto cuarta quarto chetvertyy chetvertaya iv
5 fifth 5th funfte cinquieme quinto quinta pyatyy pyataya
6 sixth 6th sechste sixieme sexto sesto shestoy vi
7 seventh 7th siebte septieme septimo settimo sedmoy vii
8 eighth 8th achte huitieme octavo ottavo vosmoy viii
9 ninth 9th neunte neuvieme noveno nono devyatyy ix
10 tenth 10th zehnte dixieme decimo desyatyy
11 eleventh 11th elfte onzieme undecimo odinnadtsatyy
12 twelfth 12th zwolfte douzieme duodecimo dvenadtsatyy xii
13 thirteenth 13th xiii
14 fourteenth 14th xiv
15 fifteenth 15th xv
16 sixteenth 16th xvi
17 seventeenth 17th xvii
18 eighteenth 18th xviii
19 nineteenth 19th xix
20 twentieth 20th xx
`

/** Ordinal words and Roman numbers as digits. V, X and XI are left out: an initial and two Chinese names. */
export const ORDINALS: ReadonlyMap<string, string> = new Map(
  COUNTING.trim()
    .split('\n')
    .flatMap((line) => {
      const [digits = '', ...forms] = line.split(' ')
      return forms.map((form) => [form, digits] as const)
    }),
)

/** Countries that company names write in several ways; keys are lower-case Latin text, the longer name of a country before the shorter. */
export const COUNTRY_SHORT: ReadonlyMap<string, string> = new Map(
  `united states of america=us|united states=us|u.s.a.=us|usa=us|u.s.=us|america=us
  united kingdom=uk|great britain=uk|u.k.=uk|england=uk
  united arab emirates=uae|u.a.e.=uae|emirates=uae
  russian federation=russia|rossiya=russia|rossiyskaya federatsiya=russia|rf=russia
  islamic republic of iran=iran|persia=iran
  people's republic of china=china|peoples republic of china=china|prc=china|p.r.c.=china|p.r. china=china|pr china=china
  democratic people's republic of korea=north korea|dprk=north korea|d.p.r.k.=north korea
  republic of korea=south korea|r.o.k.=south korea
  syrian arab republic=syria|republic of belarus=belarus|byelorussia=belarus
  federal republic of germany=germany|deutschland=germany|hong kong sar=hong kong|hongkong=hong kong
  kingdom of saudi arabia=saudi arabia|ksa=saudi arabia|republic of turkey=turkey|turkiye=turkey
  bolivarian republic of venezuela=venezuela|republic of cuba=cuba|union of myanmar=myanmar|burma=myanmar
  european union=eu|e.u.=eu|republic of kazakhstan=kazakhstan|republic of india=india|bharat=india
  swiss confederation=switzerland|schweiz=switzerland|suisse=switzerland|holland=netherlands|the netherlands=netherlands`
    .split(/[|\n]/)
    .map((entry) => {
      const [from = '', to = ''] = entry.trim().split('=')
      return [from, to] as const
    }),
)
