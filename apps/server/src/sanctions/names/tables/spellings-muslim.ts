/** Latin spellings of names of the Muslim world: Arabic and its Maghreb, Persian, Turkic, Pashto and Urdu forms. */
export const MUSLIM_SPELLINGS = `
mohammed muhammad mohamed mohammad mohamad mohamud muhammed muhamad muhamed mohd md mahomed mehmet mehmed mamadou magomed mukhamed mukhammad muhammet mahamed mahamad mohamet mohammod muhamet mahammad maxamed
ahmed ahmad ahmet ahmat akhmed akhmad akhmat achmad ahmadou amadou ahmud axmed axmad ehmed
mahmoud mahmud mahmood mehmood makhmud mahamoud makhmoud mahamud maxamuud mahmut
hamid hameed hamit khamid hamied
hamed haamid
ali aly alli
hasan hassan hassane hasen hacen hassen khasan xasan hassaan
hussein hussain husayn husain hossein hussien hossain hosein hocine hosain housein houssein husein huseyin huseyn hosseyn khusein khussein hussayn xuseen
hosseini husseini husaini hussaini hoseini hosayni husayni houssaini
mohsen muhsin mohsin muhsen mohcine mukhsin muxsin
omar umar omer umer oumar umaru omaru
othman uthman osman usman ousmane osmane ottman athman usmon
abubakr abubakar aboubacar aboubakar boubacar bubakar aboubakr abubakir boubaker
abdullah abdallah abdulla abdalla abdullahi abdoulaye abdollah abdellah abdallahi abdullo
abdulrahman abdurrahman abdurahman abdelrahman abdurrehman abdulrehman abderrahman abderrahmane abdirahman abdrahman abdurakhman abdurahmon abdourahmane abdolrahman
rahman rehman rahmaan rakhman
abdulaziz abdelaziz abdolaziz abdulazeez abdiaziz abdoulaziz
aziz azeez azez
abdulkarim abdelkarim abdelkrim abdulkareem abdolkarim abdikarim
karim kareem kerim krim
abdulqadir abdulkader abdelkader abdulkadir abdulqader abdelqader abdikadir abdoulkader abdelkadir abdolghader
qadir kader qader kadir quader qadeer ghader
abdulmalik abdelmalek abdulmalek abdelmalik abdumalik
malik malek
abdulmajid abdelmajid abdulmajeed abdelmadjid abdolmajid
majid majeed madjid mejid
abdulhakim abdelhakim abdulhakeem abdolhakim
hakim hakeem
abdullatif abdellatif abdulateef abdullateef abdollatif
latif lateef
abdulsalam abdussalam abdelsalam abdessalam abdeslam abdisalam abdusalom
salam salaam
abdulghani abdelghani abdoulghani
ghani ghany gani rhani
abdulwahab abdelwahab abdulwahhab abdelouahab abdolvahab
abdulhamid abdelhamid abdulhameed abdolhamid
abdulbaqi abdelbaki abdulbaki abdelbaqi
abdulhadi abdelhadi abdolhadi
abdulnasser abdelnasser abdennasser abdulnasir
abdulrazzaq abdulrazaq abdelrazek abderrazak abdulrazak abdurrazaq abdulrazzak
razzaq razaq razak razzak razeq
abdulsamad abdussamad abdelsamad abdessamad
samad samed
abdulfattah abdelfattah abdelfatah abdulfatah
abdulghaffar abdelghaffar abdulghafar
ghaffar ghafar
ghafoor ghafur ghafour
khalid khaled khalled khaleed xalid halid halit chalid
khalil khaleel halil kalil ghalil
walid waleed oualid valid velid
saleh salih swaleh salyh
salah salaah
salim saleem selim
salem saalim
salman salmaan selman
suleiman sulayman sulaiman soleiman suleman sulejman suleyman sulieman sulaymaan souleymane solaiman soliman soleyman sulaymon slimane
yusuf youssef yousef yousuf yusif yousif youcef yusup yousaf yusof joesoef usuf yussuf
yunus younis yunis younes yonus younas yunous yunos
yaqub yaqoob yakub yaghoub yaqoub yacoub yakoub yakup yaakoub yaqob
yahya yahia yehia yahiya yehya
yasin yassin yaseen yassine yasseen jasin
yasir yaser yasser
ibrahim ebrahim ibraheem ibrahima brahim ibragim ibrahem ebrahem ibrohim ibrahimo
ismail esmail ismael ismaeel esmaeil ismayil ismoil smail ismaila ismaeil
ishaq ishak eshagh ishaaq iskhak isaq eshaq
musa moussa mousa moosa muuse muso
idris idriss edris idrees driss
elias ilyas iliyas elyas
ayub ayoub ayyub ayoob eyup ayyoub
dawood daoud dawud daud davoud davud dawoud davood daood dahood
haroon harun haroun haron
zakaria zakariya zakarya zachariya zakariyya zakariah zakareya
mustafa mostafa mustapha moustafa mustafo moustapha mostapha mustofa mustaf
murtaza morteza murtada mortaza mortada murtadha
mujtaba mojtaba mugtaba
reza riza ridha rida redha raza reda
mahdi mehdi mahdy
jafar jaafar jaffar djafar cafer jafer gaafar djaafar djaffar
javad jawad djawad jowad djaouad cevad
kazem kazim kadhim kadhem kathim qazem kadim
baqir baqer bagher bakir baghir
sadiq sadegh sadeq sadek sadik sadigh saddiq
siddiq siddique seddik siddik sidik
taqi taghi taki
abbas abbass abas
fazl fadl fadhl fazal
fazel fadil fadhil fazil fadel
qasim qasem ghasem kassem kasem kacem gasim qassem qassim kassim gassim qosim gacem
hashim hashem hachem hachim hasim khashim
hashemi hashimi hachemi
akbar ekber
rahim raheem rakhim
sattar satar settar
jabbar jabar djabbar gabbar
jaber jabir gaber djaber
hadi hady
hafiz hafez hafeez hafidh hafed
nasser nasir naser naseer nassir nacer nasor
nasr nasar
nasrallah nasrullah nasrollah nasralla
mansour mansur mansoor manssour
mubarak mobarak moubarak mubarek mebarek embarek
masoud masud massoud masood messaoud
saeed said saeid saiid sayeed saied seid saaid
saud soud saoud
sayyid sayed seyed sayid sayyed seyyed syed saiyid saiyed sayeyd
sharif shareef sherif cherif charif serif
amin ameen emin amine
amir ameer amier
anwar anwer anouar enver anvar anwaar
ashraf achraf
aref arif areef
adel adil adeel
adnan adnane
imad emad imed aimad
issam isam essam esam aissam
issa isa eissa aissa eisa essa iissa
izzat ezzat izzet ezat
aamir aamer
ammar amaar
amr amro amrou
ayman aiman aymen aymane
badr bader badar
bassam basam bessam
bashir basheer bachir bashiir beshir
bashar bachar
bilal belal bilel bilaal
burhan borhan bourhane
faisal faysal feisal faisel faycal faizal feysal
farid fareed ferid
farooq farouk faruq faruk farouq farough faroq
fawzi faouzi fauzi fewzi
fuad fouad foad foued
ghulam gholam gulam
habib habeeb habibe
haidar haider heidar haydar hyder heydar hayder haidr
haitham haytham heitham hitham
hamza hamzah hamzeh khamza hemza
hisham hesham hicham hishaam
husam hossam hussam hesam houssam hosam
ihsan ehsan ehsaan
iqbal eghbal ikbal eqbal
jalal jalaal djalal galal jalol
jalil jaleel djalil galil
jamal jamaal gamal djamal djamel cemal jamol jemal
jamil jameel gamil djamil cemil jamiil
jassim jasim jassem jasem gassem
jihad jehad djihad gihad
juma jumah jumaa goma djuma gomaa jomaa jomah
kamal kamaal kemal
kamel kamil kaamil
khadija khadijah khadidja hatice khadeeja xadiija
khamis khamees
lutfi lotfi loutfi
mahfouz mahfuz mahfoudh mahfooz
maher mahir
marwan marouane merwan marvan
mazen mazin
mokhtar mukhtar muxtar moktar mukhtor moukhtar
munir mounir moneer muneer monir
murad mourad morad murod
muslim moslem mouslim
musab mosab mossab musaab mousab
nabil nabeel
naji nagi nadji
najib najeeb nagib nadjib nejib
najm nejm
nadir nader nadeer
naim naeem naiem
nayef naif nayif naeef
nawaz navaz
nidal nedal nidhal
nizar nezar
noor nur nour noer nuur
nouri nuri noori noury nury
nuruddin nooruddin noureddine nureddin nuraddin noureddin nourredine noreddine
salahuddin saladin salaheddine salaheddin selahattin salahudin
jalaluddin jalaludin djalaluddin celalettin
kamaluddin kamaleddine kemalettin
shamsuddin shamsudin chamseddine semsettin shamsiddin
sirajuddin serajuddin sirojiddin
saifuddin saifeddine seifeddine sayfuddin sayfiddin
osama usama oussama ousama usamah osamah
qais qays kais kays qeis ghais
qusay qusai kusay qussay
rabi rabie rabih rabee rebii
rafiq rafik rafeeq refik
raed rayed
rajab ragab redjeb recep rajap
ramadan ramazan ramezan romdhane ramadhan ramadane ramzan ramzon
rashid rasheed rachid raschid rechid rashiid
rashed raashid rached
rauf raouf rauoof raof
rustam rostam rustum rustem
saddam sadam
safwan safouane
saif sayf seif seyf saef
sajjad sajad sadjad
sami samy samee
samir sameer samire
shahin shaheen chahine
shakir shaker chaker
shaban shaaban chaabane chaban
shukri shoukri shokri choukri shoekri
sultan soltan sultaan
suhail sohail suhayl souheil
taha tahha
tahir taher tahar taheer
talal tallal
talib taleb
tariq tarek tareq tarik tarique taregh
tawfiq tawfik toufik tewfik taufik taufiq toufiq tofiq
tayeb tayyib taieb tayyeb tayib
uday odai udai oday
ubaid obaid obeid ubayd obeyd
ubaidullah obaidullah ubaydullah obeidollah ubaydallah
wael wail ouail
wisam wissam
yazid yazeed
zahir zaheer dhahir
zaid zayd zeid zayed zaied
zain zein zayn zine
zaki zaky zakki
ziad ziyad zeyad ziyaad
zubair zubayr zoubeir zobair zubeyr zubeir
aisha aysha ayesha aicha ayse aishah aiche aysheh
amina ameena aminah amineh aminata
fatima fatimah fatemeh fatma fatoumata fathima fatimata fatime fadumo fatimo
hoda huda houda
laila leila layla leyla laylah lejla
maryam mariam mariyam meryem meriem maryan
zahra zahraa zohra zahrah
zainab zeinab zaynab zineb zeynep zeynab zainabu
yasmin yasmine yasmeen
khan khaan
agha aqa aga
mousavi musavi moosavi mussawi musawi moussaoui
mohammadi muhammadi mohamadi mohammedi
ahmadi ahmady ahmedi
rezaei rezai rezaie rezayi
karimi kareemi karimy
qureshi quraishi kuraishi qurayshi koreishi koraichi
chaudhry choudhury chowdhury chaudhary chaudhri choudhary chawdhury
siddiqui siddiqi siddiquee sidiqi
ansari ansary
haqqani haqani haghani hakkani
akhundzada akhunzada akhondzadeh
tikriti takriti
zawahiri zawahri zawaheri dhawahiri
baghdadi bagdadi
masri misri
hamdan hemdan
khoury khouri khuri koury
haddad hadad
otaibi utaybi utaibi oteibi
qahtani kahtani gahtani
ghamdi ghamidi
mutairi mutayri motairi
shammari shamari shamri
dosari dossary dawsari dosary dawsary
harithi harthi
qaddafi gaddafi kadhafi qadhafi gadhafi kaddafi khadafi
aliyev aliev alijev
mammadov mamedov mammedov
huseynov guseynov huseinov guseinov
hasanov gasanov khasanov hasanow
karimov kerimov
rahimov ragimov rakhimov
ibragimov ibrahimov
magomedov mukhamedov muhammadov mukhammedov
yusupov yusufov yousoupov
sharipov sharifov
`
