import type { Page } from 'playwright-core'

/**
 * What is wrong with the layout of the screen that is shown: it is wider than the window, or an element cuts off its own text. Lists and
 * tables that scroll by themselves may be taller than their box.
 */
export function layoutProblemsOf(page: Page): Promise<string[]> {
  return page.evaluate(FIND_PROBLEMS)
}

/**
 * The same for all screens of the catalogue, which the page shows one after the other, in one language. `judge` is a further judgement of the screen
 * that is shown: source code of a function that returns its objections.
 */
export function layoutProblemsOfAll(page: Page, lang: string, judge = '() => []'): Promise<string[]> {
  return page.evaluate(`(async () => {
    const problems = []
    // Two frames: the screen has run its effects and is painted.
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    for (const screen of CATALOG_SCREENS) {
      await showScreen('screen=' + screen + '&lang=${lang}')
      await drawn()
      problems.push(...[...${FIND_PROBLEMS}, ...(${judge})()].map((problem) => screen + ': ' + problem))
    }
    return problems
  })()`)
}

/** Letters may reach a little beyond their line; half a line is a line that nobody sees. */
const FIND_PROBLEMS = `(() => {
  const problems = []
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) problems.push(scrollWidth - clientWidth + ' px wider than the window')
  for (const element of document.querySelectorAll('body *')) {
    // Text for screen readers alone, and drawings.
    if (element.closest('.unseen, svg, video, canvas') || element.clientWidth === 0) continue
    const { overflowX, overflowY, fontSize } = getComputedStyle(element)
    const wide = element.scrollWidth - element.clientWidth
    const tall = element.scrollHeight - element.clientHeight
    const isCut = ['hidden', 'clip'].includes(overflowY) && tall > parseFloat(fontSize) / 2
    if ((wide > 1 && overflowX !== 'visible') || isCut)
      problems.push('cut off by ' + wide + ', ' + tall + ' px: ' + (element.className || element.tagName) + ' "' + element.innerText.slice(0, 40) + '"')
  }
  return problems
})()`

/**
 * The characters of a text for which the page has no glyph. The browser draws each of them, and one that no font has: the same picture means that
 * a box is drawn instead.
 */
export function missingGlyphsOf(page: Page, text: string): Promise<string[]> {
  const drawn = [...new Set(text)].filter((character) => !/[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(character))
  // A mark stands on a letter: on the one that it follows in the text.
  const pairs = drawn.map((character) => [/\p{M}/u.test(character) ? letterBefore(text, character) : '', character])
  return page.evaluate(`(${FIND_MISSING})(${JSON.stringify(pairs)})`)
}

const letterBefore = (text: string, mark: string) =>
  /\p{L}(?=\p{M}*$)/u.exec(text.slice(0, text.indexOf(mark)))?.[0] ?? 'o'

const FIND_MISSING = `(pairs) => {
  const canvas = document.createElement('canvas')
  canvas.width = 96
  canvas.height = 96
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.font = '32px ' + getComputedStyle(document.documentElement).fontFamily
  const draw = (text) => {
    context.clearRect(0, 0, 96, 96)
    context.fillText(text, 24, 60)
    return context.getImageData(0, 0, 96, 96).data.join()
  }
  const nobody = '\\u{e8000}'
  return pairs
    .filter(([letter, character]) => draw(letter + character) === draw(letter + nobody))
    .map(([, character]) => character)
}`

/** Lengthens and accents every text of the screen (`en-XA`), or turns it round (`ar-XB`): what a language of long words or of another direction does. */
export function pseudoTexts(page: Page, tag: 'en-XA' | 'ar-XB'): Promise<void> {
  return page.evaluate(`(${REWRITE})('${tag}')`)
}

/** Leaves alone what belongs to the session, what is named in its own language, and digits that a user compares. */
const REWRITE = `(tag) => {
  const accents = { a: 'å', e: 'é', i: 'î', o: 'ö', u: 'û', n: 'ñ', c: 'ç', A: 'Å', E: 'É', O: 'Ö', U: 'Û' }
  const changed = (text) => {
    if (text.trim() === '') return text
    if (tag === 'ar-XB') return '\\u202e' + text + '\\u202c'
    const words = [...text].map((letter) => accents[letter] ?? letter).join('').split(' ')
    return [...words, ...words.slice(0, Math.ceil(words.length * 0.4))].join(' ')
  }
  if (tag === 'ar-XB') document.documentElement.dir = 'rtl'
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement.closest('.bar, .languages, .number, code, table')) node.textContent = changed(node.textContent)
}`
