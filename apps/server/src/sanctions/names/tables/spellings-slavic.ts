/** Spellings of the same Slavic name in Russian, Ukrainian and Belarusian documents and in several romanisations. */
export const SLAVIC_SPELLINGS = `
alexander aleksandr alexandr oleksandr aliaksandr aleksander alexandre aleksandar alyaksandr aleksandre
alexandra aleksandra oleksandra aliaksandra
alexei aleksei alexey aleksey oleksii oleksiy aliaksei alexej oleksij alyaksey
anatoly anatoliy anatolii anatoli anatol anatolij
andrei andrey andrii andriy andrej andriej andrij
artem artyom artiom artsiom
arkady arkadiy arkadii arkadi
boris borys barys
bogdan bohdan bahdan
valentin valiantsin valentyn
valery valeriy valerii valeri valerij
valeria valeriya valeriia
vasily vasiliy vasilii vasyl vasili vasil vassily wassili
victor viktor wiktor viktar
victoria viktoria viktoriya viktoriia wiktoria
vitaly vitaliy vitalii vitali vital vitalij
vladimir volodymyr uladzimir wladimir volodimir vladimer
vladislav vladyslav uladzislau wladyslaw
vyacheslav viacheslav viachaslau vjaceslav viatcheslav
vsevolod vsevolad
gennady gennadiy gennadii hennadii hennadiy genadiy henadz
georgy georgiy georgii heorhii georgi heorhiy
grigory grigoriy grigorii hryhorii hryhoriy grigori ryhor
daniil danylo danila danilo
denis denys dzianis
dmitry dmitriy dmitrii dmytro dmitri dzmitry dimitri dmitrij dimitry
evgeny yevgeny evgeniy evgenii yevgeniy yevhen yevgenii evgueni yauheni jewgeni yevgueni ievgen ievgenii yevgen evgeni evgenij
evgenia yevgenia evgeniya yevgeniya yevheniia evgeniia
egor yegor jegor iegor
ekaterina yekaterina kateryna katsiaryna jekaterina iekaterina catherine katherine katharina katarina katerina kathryn catharina katharine cathrine kathrin katrin
elena yelena olena jelena
elizaveta yelizaveta yelyzaveta elizabeta
igor ihor ihar
ilya illia ilia illya iliya ilja
irina iryna
kirill kyrylo kiril kyril kiryl
konstantin kostiantyn konstantyn kanstantsin kostyantyn constantin
leonid leanid
lyudmila ludmila liudmila lyudmyla liudmyla ljudmila
maxim maksim maksym
marina maryna
maria mariya mariia marija
mikhail mykhailo mykhaylo mihail mikhailo michail mikhal
natalia natalya nataliya nataliia natallia natalja
nikita mykyta mikita
nikolai nikolay mykola nikolaj mikalai nicolai nikolaii mikola mykolai
oleg oleh aleh olieg
olga olha volha
oksana aksana oxana
pavel pavlo paval pawel
petr pyotr petro piotr
roman raman
svetlana svitlana sviatlana svietlana
svyatoslav sviatoslav svjatoslav
semyon semen semion siamion
sergei sergey serhii serhiy siarhei sergej serguei sergiy sergii serhij siarhey
stanislav stanislau stanislaw
stepan stsiapan
tatiana tatyana tetiana tetyana tatjana tatsiana
timofey timofei tymofii tymofiy tsimafei
timur tymur temur
fyodor fedor fedir fiodor feodor
filipp pylyp
yulia yuliya yuliia iuliia julija iulia
yuri yury yuriy yurii iurii iouri yuryi jurij jurii iuri
yaroslav iaroslav jaroslav yaraslau jaroslaw
yakov yakiv iakov jakov
zinaida zinayida
anastasia anastasiya anastasiia nastassia
dmitrievich dmitriyevich dmytrovych dmitriievich dmitrijevich
alexandrovich aleksandrovich oleksandrovych aliaksandravich
alexandrovna aleksandrovna oleksandrivna
alexeevich alekseevich alekseyevich oleksiiovych alexeyevich oleksiyovych
alexeevna alekseevna alekseyevna oleksiivna alexeyevna
anatolievich anatolyevich anatolevich anatoliiovych anatoliyovych
anatolievna anatolyevna anatolevna anatoliivna
andreevich andreyevich andriiovych andriyovych
andreevna andreyevna andriivna
borisovich borysovych
borisovna borysivna
valentinovich valentynovych
valerievich valeryevich valerevich valeriiovych valeriyovych
valerievna valeryevna valerevna valeriivna
vasilievich vasilyevich vasilevich vasylovych
vasilievna vasilyevna vasilevna vasylivna
viktorovich viktorovych victorovich
viktorovna viktorivna victorovna
vitalievich vitalyevich vitalevich vitaliiovych vitaliyovych
vladimirovich volodymyrovych uladzimiravich wladimirowitsch
vladimirovna volodymyrivna
gennadievich gennadyevich gennadevich hennadiiovych
georgievich georgiyevich heorhiiovych
grigorievich grigoryevich grigorevich hryhorovych
evgenievich yevgenyevich yevgenievich evgenyevich evgenevich yevheniiovych yevhenovych
evgenievna yevgenyevna yevgenievna evgenyevna evgenevna yevheniivna
igorevich ihorovych
igorevna ihorivna
ivanovich ivanovych ivanavich
ivanovna ivanivna
konstantinovich kostiantynovych
leonidovich leonidovych
mikhailovich mykhailovych mikhaylovich mykhaylovych mihailovich
mikhailovna mykhailivna mikhaylovna
nikolaevich nikolayevich mykolaiovych mykolayovych nikolaievich
nikolaevna nikolayevna mykolaivna
olegovich olehovych
olegovna olehivna
pavlovich pavlovych
petrovich petrovych
romanovich romanovych
sergeevich sergeyevich serhiiovych serhiyovych sergejevich
sergeevna sergeyevna serhiivna
stanislavovich stanislavovych
stepanovich stepanovych
fedorovich fyodorovich fedorovych
yurievich yuryevich yurevich yuriiovych iurevich yuriyovych
yurievna yuryevna yurevna yuriivna iurevna
yakovlevich yakovych
zaitsev zaytsev zaicev zajcev
sergeev sergeyev serheiev
alexeev alekseev alekseyev alexeyev
andreev andreyev
nikolaev nikolayev
mikhailov mikhaylov mihailov mykhailov
vasiliev vasilyev vasilev vasiliyev
grigoriev grigoryev grigorev
dmitriev dmitriyev dmytriev
yuriev yuryev yurev
soloviev solovyov solovyev solovev
lebedev lebediev
fedorov fyodorov fiodorov
semenov semyonov semionov
kuznetsov kuznecov kouznetsov kuznietsov
shevchenko chevtchenko szewczenko shevtchenko
kovalchuk kovalczuk
djordje dorde djorde
nemanja nemanya
zeljko zelko
milosevic milosevich miloshevich
jovanovic jovanovich yovanovich
petrovic petrovitch
nikolic nikolich
`
