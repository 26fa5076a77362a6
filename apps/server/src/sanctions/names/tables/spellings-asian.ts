/**
 * East Asian surnames in their romanisations: pinyin first, then Wade-Giles, Cantonese and Hokkien spellings.
 * A spelling that stands for several surnames belongs to the one that most of its bearers have.
 */
export const ASIAN_SPELLINGS = `
zhang chang cheung teo cheong tiong
wang ong heng
huang wong hwang oei ooi
chen chan tan chern
liu lau liew lauw
yang yeung yeo yeoh ieong
zhao chao chiu
zhou chou chow chew jhou
xu hsu hui khaw
sun suen
zhu chu choo
guo kuo kwok kwek quek guok
lin lam lim
luo lo loh
liang leung leong
song soong
zheng cheng tay jheng
xie hsieh tse cheah
tang tong
deng teng
feng fung
cao tsao tso
peng pang phang
zeng tseng tsang
xiao hsiao siu siow
tian tien
dong tung
pan poon phua
yuan yuen
cai tsai choy chua
jiang chiang keung
ye yeh yip yap
su soh
lu lyu lv
ding ting
shen sham
ren jen yam
yao yiu
zhong chung chong
cui tsui chui
jin chin kam
shi shih
xia hsia
fang fong
bai pai
zou tsou chau
xiong hsiung
qin chyn
qiu chieu yau
hou hau
xue hsueh
lei lui
qian chien
long lung
gu ku koo
shao shiu
dai tai
mo mok
xi hsi
ou au
ouyang auyeung auyong owyang
situ szeto seto
zhuge chukuo
ma mah
he ho
gao kao
hu hoo
wu ng goh
kim gim ghim
lee yi ri rhee rhie
park pak bak bahk
choi choe chey
jung jeong joung jeoung
kang gang kahng
cho jo joh
yoon yun youn
shin sin
kwon gwon kweon
jeon jun
yoo ryu ryoo
ko go koh
moon mun
baek paek baik paik
heo hur huh
shim sim
noh roh
kwak gwak kwag
joo ju
bae pae
seo suh
son sohn
hyun hyeon hyon
young yeong
chul cheol chol
nguyen nguyan
sato satoh satou
ito itoh itou
ono ohno oono
saito saitoh saitou
kato katoh katou
goto gotoh gotou
kudo kudoh kudou
endo endoh endou
kondo kondoh kondou
ota ohta oota
taro tarou
ichiro ichirou
jiro jirou
yoko youko yohko
kyoko kyouko
yuko yuuko yuhko
ryo ryou
koji kouji kohji
shota shouta
suharto soeharto
sukarno soekarno
soekarnoputri sukarnoputri
tjahjono cahyono tjahyono
surjo soerjo suryo
djoko joko
`
