/**
 * Usual Latin spelling of frequent Hebrew names, which are written without most vowels.
 * One line is `spelling word word …`.
 */
const NAMES = new Map<string, string>()
for (const line of `
avraham אברהם
abraham אבראהים
aharon אהרון אהרן
avi אבי
avigail אביגיל
adam אדם
uri אורי
oren אורן
or אור
ahmad אחמד
eli אלי
eliyahu אליהו
eliezer אליעזר
elazar אלעזר
alon אלון
amir אמיר
ariel אריאל
arye אריה
asher אשר
esther אסתר
efraim אפרים
efrat אפרת
baruch ברוך
benjamin בנימין
ben בן
bar בר
bat בת
gabriel גבריאל
gad גד
gideon גדעון
gilad גלעד
david דוד
dan דן
daniel דניאל
daniela דניאלה
dina דינה
dov דב
hadas הדס
hila הילה
hana חנה
haim חיים
haya חיה
hassan חסן
zeev זאב
zvi צבי
yaakov יעקב
yael יעל
yehuda יהודה
yehonatan יהונתן יונתן
yehoshua יהושע
yosef יוסף
yossi יוסי
yitzhak יצחק
israel ישראל
yigal יגאל
yona יונה
yoram יורם
yair יאיר
yafa יפה
kohen כהן
katz כץ
levi לוי
liora ליאורה
leah לאה
lior ליאור
mohammad מוחמד מחמד
moshe משה
mordechai מרדכי
meir מאיר
michael מיכאל
michal מיכל
miriam מרים
menachem מנחם
mizrahi מזרחי
malka מלכה
naomi נעמי
natan נתן
netanel נתנאל
nir ניר
noam נועם
noa נועה נעה
nissim ניסים
omer עומר
omri עומרי
amos עמוס
amit עמית
ezra עזרא
abed עבד
ali עלי
pinchas פנחס
peretz פרץ
friedman פרידמן
rachel רחל
rivka רבקה
ruth רות
reuven ראובן
roni רוני
ronen רונן
ron רון
rami רמי
shalom שלום
shlomo שלמה
shimon שמעון
shimoni שמעוני
shmuel שמואל
sara שרה
shira שירה
sharon שרון
shai שי
shaul שאול
tamar תמר
tal טל
tzipora ציפורה
tzur צור
biton ביטון
dahan דהן
ohana אוחנה
ohayon אוחיון
hadad חדד
azoulay אזולאי
malul מלול
gabay גבאי
segal סגל
shapira שפירא
weiss וייס
fischer פישר
goldberg גולדברג
rosenberg רוזנברג
schwartz שורץ שוורץ
klein קליין
grossman גרוסמן
horowitz הורוביץ
kaufman קאופמן
frenkel פרנקל
edri אדרי
amar עמר
abu אבו
ibn אבן
`
  .trim()
  .split('\n')) {
  const [spelling = '', ...words] = line.split(' ')
  for (const word of words) NAMES.set(word, spelling)
}

const CONSONANTS = new Map(
  'א בv גg דd הh זz חh טt כk ךch לl מm םm נn ןn סs ע פf ףf צtz ץtz קk רr שsh תt וv יy Jj Zzh Cch'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)] as const),
)
const INITIAL: Readonly<Record<string, string>> = { ב: 'b', פ: 'p', כ: 'k' }

/** Foreign sounds are a letter with a stroke behind it; capitals stand for them here. */
const STROKES: Readonly<Record<string, string>> = { ג: 'J', ז: 'Z', צ: 'C', ץ: 'C' }

/** Points, accents and the joiner; the points would give the vowels, but names on lists have none. */
export function foldHebrew(text: string): string {
  return text.replace(/[\u0591-\u05c7]/g, '')
}

/** Reads vav and yod between consonants as vowels and puts an a between consonants that have none. */
function spell(word: string): string {
  let out = ''
  let open = false // a vowel stands before this letter
  const last = word.length - 1
  for (let i = 0; i <= last; i++) {
    const char = word.charAt(i)
    const next = word.charAt(i + 1)
    if ((char === 'ו' || char === 'י') && next === char) {
      if (!open && i > 0) out += 'a'
      out += char === 'ו' ? 'v' : 'y'
      open = false
      i++
    } else if (char === 'ו' && i > 0 && !open) {
      out += 'o'
      open = true
    } else if (char === 'י' && i > 0 && next !== 'ה') {
      out += 'i'
      open = true
    } else if ((char === 'ה' || char === 'א') && i === last && i > 0) {
      if (!open) out += 'a'
      open = true
    } else {
      const sound = i === 0 ? (INITIAL[char] ?? CONSONANTS.get(char) ?? '') : (CONSONANTS.get(char) ?? '')
      const closes = next === '' || next === 'ו' || next === 'י' || (open && i < last - 1)
      out += sound
      if (closes) open = false
      else {
        if (!(next === 'ה' && i === last - 1)) out += 'a'
        open = !(next === 'ה' && i === last - 1)
      }
    }
  }
  return out
}

export function hebrewText(run: string): string {
  const word = foldHebrew(run).replace(/(.)\u05f3/g, (_, letter: string) => STROKES[letter] ?? letter)
  return NAMES.get(word) ?? (word.endsWith('יאל') ? spell(word).replace(/al$/, 'el') : spell(word))
}
