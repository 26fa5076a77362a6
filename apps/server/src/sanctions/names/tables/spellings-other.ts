/**
 * Names that the tables of Muslim, Slavic and East Asian names do not have. Each line holds spellings of one name, in lower case and
 * separated by spaces; tables.ts reads the lines, so they cannot contain comments. The spellings of a line may stand for the same person in
 * different documents: variants, transliterations, and forms of neighbouring languages that are confused (philip, philippe). Forms that
 * are different names to their bearers (Jan, Jean, John) have no common line.
 */

const WEST_EUROPEAN_GIVEN_NAMES = `
john jhon
jonathan johnathan jonathon johnathon
johann johannes johan
stephen steven
stephan stefan stephane
philip phillip philipp philippe phillippe
frederick frederic fredrick frederik fredrik
geoffrey jeffrey jeffery geoffery
lawrence laurence
catalina cathalina
elizabeth elisabeth elisabet elizabet
christopher kristopher cristopher kristoffer christoffer
christoph christophe
christian kristian cristian
christina kristina cristina
christine kristine
karl carl
eric erik erich
mark marc
marcus markus
lucas lukas
nicholas nicolas nikolas
thomas tomas thomaz
anthony antony
joseph josef jozef
jacob jakob jacub
matthew mathew
matthieu mathieu
matthias mathias matthijs mattias
ralph ralf
adolf adolph
gustav gustaf gustave
rudolf rudolph
oscar oskar
walter walther
gunther guenther gunter guenter
jurgen juergen
jorg joerg
gottfried godfried
ludwig ludvig
heinrich hinrich henrich
joachim jochim
allan alan allen
brian bryan bryon
craig kraig
darren daren darrin
derek derrick
douglas douglass
edmund edmond
gerard gerrard
glenn glen
graham graeme grahame
gregory greggory
ian iain
keith kieth
kenneth kennet
leslie lesley
michael micheal
mikael mickael
neil neal neill
patrick patric patrik
raymond raimund raymund
roger rodger
sean shaun shawn
stuart stewart
terence terrence terrance
tracy tracey
trevor trever
william wiliam
wilhelm vilhelm
ann anne
anna hanna
hannah chana
caroline carolyn karoline carolin
claire clare clair
deborah debra debora
dorothea dorothee
eleanor elinor
ellen elen
gillian jillian
isabel isobel ysabel
jacqueline jaqueline
jane jayne
judith judit
lynn lynne
lydia lidia
madeleine madeline
margareta margarete margarethe margaretha
martha marta
monica monika
nancy nanci
nicole nichole
rachel rachael rahel
rebecca rebekah rebeka
sarah sara
sophie sofie
sophia sofia sofiya sofiia
suzanne susanne
susanna suzanna
sylvia silvia
theresa teresa therese
veronica veronika
vivian vivien vivienne
yvonne ivonne
zoe zoey
`

/** Hebrew names stand with their English forms: one person may use both. */
const BIBLICAL_NAMES = `
abraham avraham avram
isaac yitzhak izhak izaak isaak
jacobus jakobus
david davide davyd dawid
daniel danyel
gabriel gavriel
samuel shmuel
solomon shlomo salomon
moses moshe
aaron aharon aron
joshua yehoshua
judah yehuda
levy levi
cohen kohen kohn
simon shimon simeon
benjamin binyamin benyamin
ezekiel yehezkel
elijah eliyahu
miriam myriam
esther ester
ruth rut
`

/** Greek names stand with short forms that their bearers use in documents. */
const GREEK_AND_GEORGIAN_NAMES = `
george georges
giorgi giorgy
ioannis yannis giannis yiannis
georgios yorgos giorgos
dimitrios dimitris
konstantinos kostas constantinos
panagiotis panayiotis
vasileios vassilios vasilios
christos hristos
nikolaos nicolaos
athanasios thanasis
`

const IBERIAN_NAMES = `
javier xavier
gonzalez gonzales
jimenez gimenez ximenez
vazquez vasquez
velasquez velazquez
ibanez ybanez
souza sousa
teixeira texeira
`

const GERMAN_AND_NORDIC_SURNAMES = `
mueller muller
schroeder schroder
koehler kohler
boehm bohm
schaefer schafer schaffer
krueger kruger
koenig konig
christensen kristensen
christiansen kristiansen
sorensen soerensen
jorgensen joergensen
eriksson ericsson
erickson ericson
`

const SCOTTISH_IRISH_AND_WELSH_SURNAMES = `
macdonald mcdonald
mackenzie mckenzie
maclean mclean
macleod mcleod
mackay mckay
obrien obryan
oneill oneil oneal
philips phillips
`

const POLISH_HUNGARIAN_AND_ROMANIAN_SURNAMES = `
kowalski kovalski kowalsky
nowak novak
wisniewski wisnewski
szymanski shimanski
horvath horvat
kovacs kovach kovac
szabo sabo
popescu popesku
ionescu ionesku
`

const ARMENIAN_NAMES = `
hovhannisyan hovhannesian oganesyan hovannisian
harutyunyan arutyunyan arutiunian harutiunian
grigoryan grigorian
petrosyan petrosian
sargsyan sarkisyan sarkissian sargsian sarkisian
hakobyan akopyan hagopian akopian
karapetyan karapetian
vardanyan vartanyan vardanian
khachatryan khachaturyan khachatrian khachaturian
abrahamyan abramyan
gevorgyan kevorkian gevorkyan
hovhannes ovanes
gevorg kevork
hakob hagop akop
`

/** Indian, Nepali and Sri Lankan. */
const SOUTH_ASIAN_NAMES = `
sharma sarma
singh sing
agarwal aggarwal agrawal agarwala
banerjee banerji bannerjee bandyopadhyay
chatterjee chatterji chattopadhyay
mukherjee mukherji mookherjee mukhopadhyay
bhattacharya bhattacharjee bhattacharyya
krishna krisna
lakshmi laxmi lakhsmi
rajesh rajes
srinivas shrinivas sreenivas
iyer aiyar ayyar
pillai pillay
reddy reddi
yadav jadav
joshi joshy
pandey pande pandeya
mishra misra
tiwari tewari tiwary
shrestha srestha
wickramasinghe wickremesinghe
jayasuriya jayasooriya
`

export const OTHER_SPELLINGS = [
  WEST_EUROPEAN_GIVEN_NAMES,
  BIBLICAL_NAMES,
  GREEK_AND_GEORGIAN_NAMES,
  IBERIAN_NAMES,
  GERMAN_AND_NORDIC_SURNAMES,
  SCOTTISH_IRISH_AND_WELSH_SURNAMES,
  POLISH_HUNGARIAN_AND_ROMANIAN_SURNAMES,
  ARMENIAN_NAMES,
  SOUTH_ASIAN_NAMES,
]
  .map((part) => part.trim())
  .join('\n')
