/**
 * European names whose spellings are exchanged in documents. Cognates of different countries (Jan, Jean, John) are
 * different names and stay apart; only their spellings within one language area are put together.
 */
export const EUROPEAN_SPELLINGS = `
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
javier xavier
gonzalez gonzales
jimenez gimenez ximenez
vazquez vasquez
velasquez velazquez
ibanez ybanez
souza sousa
teixeira texeira
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
macdonald mcdonald
mackenzie mckenzie
maclean mclean
macleod mcleod
mackay mckay
obrien obryan
oneill oneil oneal
philips phillips
kowalski kovalski kowalsky
nowak novak
wisniewski wisnewski
szymanski shimanski
horvath horvat
kovacs kovach kovac
szabo sabo
popescu popesku
ionescu ionesku
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
