/**
 * Usual Latin spelling of frequent names in the Arabic script, which leaves the short vowels out.
 * Entries read `spelling word word …` and are separated by semicolons; `arabic/persian` gives two spellings where
 * the languages differ.
 * The words are written without hamza and with plain yeh, kaf and heh, as the reader of the script folds them.
 */
export const ARABIC_NAMES = `
mohammad محمد; ahmad احمد; mahmoud محمود; hamid حميد; hamed حامد; hamad حمد; hammad حماد; ali علي
hasan حسن; husayn/hossein حسين; mohsen محسن; hassan حسان; omar عمر; othman عثمان; abu ابو ابي ابا
bakr بكر; abubakr ابوبكر; bin بن ابن; bint بنت; umm ام; al ال; abd عبد; abdallah عبدالله; allah الله
abdul عبدل; khalid/khaled خالد; walid/valid وليد; saleh صالح; salih صليح; salim/salem سالم
salim سليم; sulayman/soleiman سليمان; salman سلمان; yusuf/yousef يوسف; yunus/younes يونس
yaqub/yaghoub يعقوب; yahya يحيي; yasin ياسين يس; yasir/yaser ياسر; ibrahim/ebrahim ابراهيم
ismail/esmail اسماعيل; ishaq/eshagh اسحاق اسحق; musa/mousa موسي; isa عيسي; idris/edris ادريس
ilyas/elias الياس; ayyub/ayoub ايوب; dawud/davoud داود داوود; harun/haroun هارون; nuh/nouh نوح
adam ادم; zakariya/zakaria زكريا; jibril جبريل; mustafa/mostafa مصطفي; murtada/morteza مرتضي
mujtaba/mojtaba مجتبي; rida/reza رضا; riza رضي; mahdi/mehdi مهدي; jafar جعفر; jawad/javad جواد
kazim/kazem كاظم; baqir/bagher باقر; sadiq/sadegh صادق; siddiq صديق; taqi/taghi تقي; naqi/naghi نقي
abbas عباس; fadl/fazl فضل; fadil/fazel فاضل; abolfazl ابوالفضل; qasim/ghasem قاسم
abulqasim/abolghasem ابوالقاسم; hashim/hashem هاشم; akbar اكبر; asghar اصغر; karim كريم; rahim رحيم
rahman رحمن رحمان; aziz عزيز; majid مجيد ماجد; latif لطيف; ghafur غفور; ghaffar غفار; sattar ستار
jabbar جبار; jabir/jaber جابر; qadir/ghader قادر; qadir قدير; razzaq/razzagh رزاق; razaq رازق
hakim حكيم; hakam حكم; halim حليم; salam سلام; wahhab/vahab وهاب; wahid/vahid وحيد; wahab وهب
malik مالك; malek ملك; fattah فتاح; fath فتح; fathi فتحي; hadi هادي; hafiz/hafez حافظ; hafid حفيظ
baqi باقي; bari باري; nasir/naser ناصر; nasir نصير; nasser نصار; nasr نصر; nasrallah نصرالله
mansur/mansour منصور; mubarak/mobarak مبارك; masud/masoud مسعود; said/saeid سعيد; saad سعد سعاد
saud/soud سعود; asad اسعد اسد; sayyid/seyyed سيد; sharif شريف; sheikh شيخ; haji حاجي حاج; amin امين
amir امير; anwar/anvar انور; akram اكرم; ashraf اشرف; arif/aref عارف; adil/adel عادل; adnan عدنان
alaa علاء علا; imad/emad عماد; iman ايمان; isam/esam عصام; izz عز; izzat/ezzat عزت; amer عامر
ammar عمار; amr عمرو; anas انس; ayman ايمن; ayad اياد; badr بدر; bahram بهرام; basim باسم
bassam بسام; bashir بشير; bashar بشار; bilal بلال; burhan برهان; din دين; faisal فيصل; fahd فهد
fahmi فهمي; farid فريد; faraj فرج; farhad فرهاد; faruq/farough فاروق; fawzi فوزي; fuad/foad فواد
ghazi غازي; ghulam/gholam غلام; habib حبيب; haidar/heidar حيدر; haitham هيثم; hamdan حمدان
hamdi حمدي; hamza/hamzeh حمزه; hani هاني; hazim حازم; hijazi حجازي; hikmat/hekmat حكمت
hisham/hesham هشام; husam/hesam حسام; idan عيدان; ihsan/ehsan احسان; iqbal/eghbal اقبال; jalal جلال
jalil جليل; jamal جمال; jamil جميل; jasim جاسم; jihad/jahad جهاد; juma جمعه; kamal كمال
kamil/kamel كامل; khalifa خليفه; khalil خليل; khan خان; khamis خميس; khair خير; khudr خضر
lutfi لطفي; luay لوي; mahfuz محفوظ; mahir/maher ماهر; marwan/marvan مروان; marzuq مرزوق; maruf معروف
mazin مازن; mukhtar/mokhtar مختار; muhsin محيسن; munir/monir منير; munther منذر; murad/morad مراد
muslim/moslem مسلم; musab/mosab مصعب; mutlaq مطلق; muhyi محيي محي; nabil نبيل; naji ناجي; najib نجيب
najm نجم; nadir/nader نادر; nadim نديم; naim نعيم; naif نايف; nawaf نواف; nawaz/navaz نواز
nidal نضال; nizar نزار; nur/nour نور; osama اسامه; qais قيس; qusay قصي; rabi ربيع; radi راضي
rafiq رفيق; raid رائد رايد; rajab رجب; ramadan/ramezan رمضان; ramzi رمزي; rashid رشيد; rashed راشد
rauf رووف روف; rustam/rostam رستم; sabah صباح; sabir صابر; sabri صبري; saddam صدام; safwan صفوان
saif سيف; sajjad سجاد; salah صلاح; sami سامي; samir سمير; shahin شاهين; shakir شاكر; shams شمس
shaban شعبان; shukri شكري; sultan سلطان; suhail سهيل; taha طه طاها; tahir/taher طاهر; talal طلال
talib/taleb طالب; tamim تميم; tariq/tareq طارق; tawfiq توفيق; uday عدي; ubaid عبيد; wael وائل وايل
wisam وسام; yazid يزيد; zahir/zaher ظاهر زاهر; zahran زهران; zaid زيد; zain زين; zaki زكي; ziad زياد
zubair زبير; aisha/ayesheh عائشه عايشه; amina/amineh امينه; asma اسماء اسما; fatima/fatemeh فاطمه
hala هاله; hanan حنان; huda/hoda هدي; khadija/khadijeh خديجه; khawla خوله; layla/leila ليلي
maryam مريم; mona مني; nadia ناديه نادي; najwa نجوي; noura نوره; rana رنا; salma سلمي; samira سميره
sara ساره سارا; suad سعاده; sumaya سميه; zahra زهراء زهرا; zainab/zeinab زينب; yasmin ياسمين
ruqayya/roghayeh رقيه; masoumeh معصومه; narges نرگس; nazanin نازنين; mahsa مهسا; mina مينا
parisa پريسا; parviz پرويز; pour پور; parsa پارسا; behzad بهزاد; behnam بهنام; bijan بيژن
dariush داريوش; esfandiar اسفنديار; fereydoun فريدون; ghorban قربان; gol گل; hormoz هرمز
houshang هوشنگ; iraj ايرج; jamshid جمشيد; kamran كامران; keyvan كيوان; khosrow خسرو
kourosh كورش كوروش; manouchehr منوچهر; mehran مهران; mehrdad مهرداد; nasrin نسرين; omid اميد
shahram شهرام; shirin شيرين; siavash سياوش; sohrab سهراب; arash ارش; jan جان; agha اغا; shah شاه
gul گول; mirza ميرزا; mir مير; zadeh زاده; nejad نژاد; hosseini حسيني; mousavi موسوي; tikriti تكريتي
misri مصري; masrawi مصراوي; duri دوري; ubaydi عبيدي; qahtani قحطاني; ghamdi غامدي; shammari شمري
harbi حربي; utaybi عتيبي; mutairi مطيري; zahrani زهراني; dosari دوسري; shehri شهري; najjar نجار
haddad حداد; khatib خطيب; khoury خوري; tamimi تميمي; baghdadi بغدادي; basri بصري; kurdi كردي
afghani افغاني; turki تركي; yamani يماني; libi ليبي; jazairi جزائري جزايري; iraqi عراقي; suri سوري
shami شامي; maliki مالكي; saadi سعدي; rubaie ربيعي; zawahiri ظواهري; wazir وزير; khalaf خلف
hussain حسنين; jasser جاسر; mutawakkil متوكل; muttaqi متقي; haq حق; haqqani حقاني; noorzai نورزي
zai زي; akhund اخوند; akhundzada اخوندزاده; ghani غني; wali/vali ولي; ould ولد; faiz فيض
tayyib/tayeb طيب; quddus قدوس; mannan منان; hai حي; samad صمد; khaliq خالق; basir بصير; ata عطا عطاء
rahmat رحمت; hamdullah حمدالله; obaidullah عبيدالله; habibullah حبيبالله; nematullah نعمتالله
hanafi حنفي; madani مدني; quraishi قريشي; niazi نيازي; nazir نذير نظير; nazar نظر; ikram اكرام
turk ترك; durrani دراني; popalzai پوپلزي; barakzai باركزي; achakzai اچكزي; alizai عليزي
ishaqzai اسحاقزي; yousafzai يوسفزي; chaudhry چودهري; butt بٹ بت; houthi حوثي; sabawi سبعاوي
muthanna مثني; thuraya ثريا; azzawi عزاوي; hammoud حمود; habbo حبو; makki مكي; sabbar صبار
shahada شحاته شحاده; juburi جبوري; janabi جنابي; hakimi حكيمي
`
