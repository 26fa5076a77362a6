/** Each line is a full name and the short forms its bearers use; a short form may belong to several names. */
export const NICKNAMES: readonly string[] = `
abigail abby gail
abraham abe bram
adelaide addie heidi
agnes aggie
albert al bert bertie
alexander alex sasha sandy xander alec lex sasho sanya shura
alexandra alex sasha sandra lexi sanya
alexei alyosha lyosha alesha
alfred alf alfie fred
alicia ali allie
amanda mandy
anastasia nastya stacy asya
anatoly tolya tolik
andrew andy drew
andrei andrusha andryusha
anna anya annie nyura anka
anthony tony ant
antonia toni tonya
antonio toni tono tonino
archibald archie
arkady arkasha
arthur art artie
barbara barb babs barbie
bartholomew bart
beatrice bea trixie
benedict ben
benjamin ben benny benji
bernard bernie
boris borya
bradley brad
bridget biddy bridie
bogdan bodya
caroline carrie caro
catherine cathy cate kate katie kitty cat
charles charlie chuck chaz charley
charlotte lottie charlie
christina chris tina chrissy
christine chris chrissie
christopher chris kit topher
clarence clare
clifford cliff
constance connie
cornelius corny neil
cynthia cindy
daniel dan danny dani
daniil danya danila
david dave davey davy
deborah deb debbie
denis deniska
dennis denny den
dmitry dima mitya dimka dimitri
dominic dom nick
donald don donnie donny
dorothy dot dottie dolly
douglas doug
edgar ed
edith edie
edmund ed eddie ned
edward ed eddie ned ted teddy
edwin ed eddie
egor gora
ekaterina katya katia katyusha
eleanor ellie nell nora lena
elena lena alyona
elizabeth liz beth betty lizzie eliza libby betsy bess lisa elsie
elizaveta liza lizaveta
emanuel manny manu
emily em emmy
emma em
ernest ernie
esther essie hettie
eugene gene
evgeny zhenya jenya
evgenia zhenya jenya
florence flo flossie
frances fran fanny frankie
francis frank fran
francisco paco pancho curro
franklin frank
frederick fred freddie freddy
fyodor fedya
gabriel gabe gabi
gabriela gaby gabi
galina galya
gennady gena
geoffrey geoff jeff
george georgie
gerald gerry jerry
gertrude trudy gert
gilbert gil
giovanni gianni nino vanni
giuseppe peppe beppe pino
gregory greg gregg
grigory grisha
guillermo memo guille
gwendolyn gwen
harold harry hal
harriet hattie
hector tito
heinrich heinz heiner
helen nell nellie
henry harry hank hal
herbert herb bert
howard howie
hubert bert
humphrey hum
ignacio nacho
igor gosha
ilya ilyusha
irina ira irka
isaac ike zak
isabel izzy bella isa
ivan vanya
jacob jake cob
jacqueline jackie
james jim jimmy jamie jem
janet jan
jason jay
jennifer jen jenny jenn
jeremiah jerry
jeremy jerry jez
jessica jess jessie
jesus chuy chucho
joachim jochen achim
joanna jo
johann hans hannes
johannes hans hannes jan
john jack johnny johnnie jock
jonathan jon jonny nathan
jorge coque
joseph joe joey jo
josef sepp pepi
jose pepe chepe
josephine josie jo
joshua josh
juan juanito
judith judy jude
julia jules julie
julian jules
karl kalle charly
katherine kate kathy katie kay kat kitty
katharina kathi kati
kenneth ken kenny
kirill kirya
konstantin kostya
lawrence larry laurie lars
leonard leo len lenny
leonardo leo nardo
leonid lenya lyonya
lewis lew
lillian lily lil
louis lou louie
louise lou
luigi gigi gino
luis lucho
lyudmila lyuda mila lyusya
madeleine maddie
manuel manolo manny lolo
margaret maggie meg peggy marge margie madge greta daisy rita
margarita rita margo
maria masha mariya marusya mitzi
marina marisha
marjorie marge
martha marty mattie
martin marty
mary molly polly mamie may
matilda tilly tilda
matthew matt
matthias matze hias
maurice mo morris
maximilian max
maxim max maks
melissa mel missy
michael mike mick mickey micky mikey
miguel mike micky
mikhail misha mishka
mildred millie
mitchell mitch
mohammed mo hamudi memo
miriam miri
nadezhda nadya
nancy nan
natalia natasha nata talia
nathaniel nat nate
nicholas nick nicky nico
nicole nicky nikki
nikita nik
nikolai kolya nikolasha
norman norm
oleg olezhka
olga olya
oliver ollie
oswald oz ozzie
pamela pam
patricia pat patty trish tricia
patrick pat paddy rick
pavel pasha
peter pete
petr petya
penelope penny
philip phil pip
priscilla cilla
rachel rae
rafael rafa rafi
raymond ray
rebecca becky becca beccy
reginald reg reggie
richard rick dick rich richie ricky
robert bob rob bobby bert robbie
roberto beto
rodney rod
roman roma
ronald ron ronnie
rosemary rosie rose
rudolf rudi rolf
ruslan rusik
russell russ
salvatore toto turi
samantha sam
samuel sam sammy
sarah sally sadie
sebastian seb bastian basti
semyon syoma senya
sergei seryozha serega seryoga serezha
sidney sid
simon si
sophia sophie sonya
stanislav stas slava
stanley stan
stefan steffen
stepan styopa
stephen steve stevie
steven steve stevie
stuart stu
susan sue susie suzy
susanna susi sanna
svetlana sveta lana
tamara toma
tatiana tanya tania
terence terry
teresa terry tess tessa
theodore ted teddy theo
theodora dora thea
thomas tom tommy
timofey tima
timothy tim timmy
tobias tobi toby
ulrich uli
valentina valya
valentin valya
valeria lera
valery valera
vasily vasya
victor vic vik
victoria vicky vika tori
vincent vince vinny
vincenzo enzo
virginia ginny
vitaly vitalik
vladimir volodya vova vlad vovan
vladislav vlad vladik slava
vyacheslav slava
walter walt wally
wilhelm willi willy
william bill will billy willie liam wim
winifred winnie
wolfgang wolf
yaroslav yarik slava
yaakov yankel kobi
yitzhak itzik
yosef yossi
yuri yura
yulia yulya
zachary zach zack
`
  .trim()
  .split('\n')
