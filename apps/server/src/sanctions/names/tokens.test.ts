import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createNames, createRandom } from '../testing/random-names.ts'
import { MAX_WORDS, type Name, readName, readPerson } from './tokens.ts'

const texts = ({ words }: Name) => words.map(({ text }) => text).join(' ')
const read = (text: string) => texts(readName(text))
/** Each word with the first letter of its role: f(ull), p(article), i(nitial), l(ight). */
const roles = ({ words }: Name) => words.map(({ text, role }) => `${text}:${role[0]}`).join(' ')
const readRoles = (text: string) => roles(readName(text))

describe('the order of a name', () => {
  test('a name with a comma is turned round', () => {
    assert.equal(read('VORBERG, Karvol'), 'karvol vorberg')
    assert.equal(read('Vorberg Talvost, Karvol Mendrik'), 'karvol mendrik vorberg talvost')
    assert.equal(read('Karvol Vorberg'), 'karvol vorberg')
  })

  test('a comma without anything before or behind it changes nothing', () => {
    assert.equal(read('Karvol Vorberg,'), 'karvol vorberg')
    assert.equal(read(',Karvol Vorberg'), 'karvol vorberg')
    assert.equal(read(','), '')
  })

  test('a second comma only separates', () => {
    assert.equal(readRoles('Vorberg, Karvol, Mendrik'), 'karvol:f mendrik:f vorberg:f')
  })

  test('two fields are read first name first, and commas in them turn nothing round', () => {
    assert.equal(texts(readPerson(' Karvol ', ' Vorberg ')), 'karvol vorberg')
    assert.equal(texts(readPerson('Karvol, Mendrik', 'Vorberg, Talvost')), 'karvol mendrik vorberg talvost')
    assert.equal(texts(readPerson('', 'Vorberg')), 'vorberg')
    assert.equal(texts(readPerson('', '')), '')
  })

  test('two fields in Chinese or Korean script are read last name first', () => {
    assert.deepEqual(readPerson('蓝月', '欧'), readName('欧蓝月'))
    assert.deepEqual(readPerson('별빛', '금'), readName('금별빛'))
    assert.notDeepEqual(readPerson('蓝月', '欧'), readName('蓝月欧'))
  })
})

describe('titles and suffixes', () => {
  test('titles before a name go, however many', () => {
    assert.equal(read('Dr. Karvol Vorberg'), 'karvol vorberg')
    assert.equal(read('Prof. Dr. Sheikh Karvol Vorberg'), 'karvol vorberg')
    assert.equal(read('VORBERG, Dr. Karvol'), 'karvol vorberg')
    assert.equal(read('DR KARVOL VORBERG'), 'karvol vorberg')
  })

  test('a title within a name hardly counts, and one at its end is a name', () => {
    assert.equal(readRoles('Karvol Sheikh Vorberg'), 'karvol:f sheikh:p vorberg:f')
    assert.equal(readRoles('Karvol Sheikh'), 'karvol:f sheikh:f')
  })

  test('suffixes behind a name go, and before it they are names', () => {
    assert.equal(read('Karvol Vorberg Jr.'), 'karvol vorberg')
    assert.equal(read('Karvol Vorberg III Esq PhD'), 'karvol vorberg')
    assert.equal(read('Md Karvol Vorberg'), 'md karvol vorberg')
  })

  test('nothing but a title or a suffix stays, so that a name remains', () => {
    assert.equal(read('Dr'), 'dr')
    assert.equal(read('Mister Jr'), 'mister')
  })

  test('titles and suffixes in capitals go as well', () => {
    assert.equal(read('MR Karvol Vorberg'), 'karvol vorberg')
    assert.equal(read('DR Karvol Vorberg'), 'karvol vorberg')
    assert.equal(read('Karvol Vorberg JR'), 'karvol vorberg')
  })
})

describe('particles', () => {
  test('particles are light and have one spelling', () => {
    assert.equal(readRoles('Karvol ibn Mendrik el-Vorberg'), 'karvol:f bin:p mendrik:f al:p vorberg:f')
    assert.equal(readRoles('Karvol van Vorberg'), 'karvol:f von:p vorberg:f')
    assert.equal(readRoles('Karvol di Vorberg'), readRoles('Karvol de Vorberg'))
  })

  test('a particle that is also a first name is one at the beginning', () => {
    assert.equal(readRoles('Ben Vorberg'), 'ben:f vorberg:f')
    assert.equal(readRoles('Van Vorberg'), 'van:f vorberg:f')
    assert.equal(readRoles('al Vorberg'), 'al:p vorberg:f')
  })

  test('syllables of Korean and Chinese names are no particles', () => {
    assert.equal(readRoles('Vo Il Na'), 'vo:f il:f na:f')
  })

  test('nothing but particles is a name', () => {
    assert.equal(readRoles('al bin'), 'al:f bin:f')
  })
})

describe('compounds', () => {
  test('every way to write a servant name gives abdul and the name', () => {
    for (const text of [
      'Abd al-Karvol',
      'Abd el Karvol',
      'Abdul Karvol',
      'Abdel-Karvol',
      'Abdulkarvol',
      'Abdelkarvol',
      'Adbul Karvol',
    ]) {
      assert.equal(readRoles(`${text} Vorberg`), 'abdul:l karvol:f vorberg:f', text)
    }
  })

  test('Abdul is a name where no other follows', () => {
    assert.equal(readRoles('Karvol Abdul'), 'karvol:f abdul:f')
    assert.equal(readRoles('Abdul'), 'abdul:f')
  })

  test('Abdullah stays one word', () => {
    assert.equal(readRoles('Abdullah Vorberg'), 'abdullah:f vorberg:f')
    assert.equal(readRoles('Abd Allah Vorberg'), 'abdullah:f vorberg:f')
    assert.equal(readRoles('Abdalla Vorberg'), 'abdullah:f vorberg:f')
    assert.equal(readRoles('Abdullahi Vorberg'), 'abdullahi:f vorberg:f')
  })

  test('every way to write a name of the faith is one word', () => {
    for (const text of [
      'Karvol ud-Din',
      'Karvol al Din',
      'Karvol Eddine',
      'Karvol uddin',
      'Karvoluddin',
      'Karvoleddine',
      'Karvoladdeen',
    ]) {
      assert.equal(readRoles(`${text} Vorberg`), 'karvoluddin:f vorberg:f', text)
    }
  })

  test('every way to write a name of God is one word', () => {
    for (const text of ['Karvol ullah', 'Karvol Allah', 'Karvolullah', 'Karvolallah', 'Karvololla']) {
      assert.equal(readRoles(`${text} Vorberg`), 'karvolullah:f vorberg:f', text)
    }
  })

  test('a short word keeps its ending', () => {
    assert.equal(read('Vordin Ulla'), 'vordin ulla')
    assert.equal(read('Nadine'), 'nadine')
  })

  test('an initial or a particle is not glued to Deen', () => {
    assert.equal(read('Karvol M. Deen'), 'karvol m deen')
    assert.equal(read('Karvol bin Din'), 'karvol bin din')
  })
})

describe('initials', () => {
  test('one letter is an initial, with or without a dot', () => {
    assert.equal(readRoles('K. Vorberg'), 'k:i vorberg:f')
    assert.equal(readRoles('Karvol M Vorberg'), 'karvol:f m:i vorberg:f')
  })

  test('initials alone name nobody and stay initials', () => {
    assert.equal(readRoles('J. K.'), 'j:i k:i')
  })

  test('two capital consonants beside a name with small letters are two initials', () => {
    assert.equal(readRoles('JC Vorberg'), 'j:i c:i vorberg:f')
    assert.equal(readRoles('Karvol JC Vorberg'), 'karvol:f j:i c:i vorberg:f')
  })

  test('NG, MD, vowels, longer words and names all in capitals are not', () => {
    assert.equal(readRoles('NG Vorberg'), 'ng:f vorberg:f')
    assert.equal(readRoles('MD Vorberg'), 'md:f vorberg:f')
    assert.equal(readRoles('JO Vorberg'), 'jo:f vorberg:f')
    assert.equal(readRoles('JCK Vorberg'), 'jck:f vorberg:f')
    assert.equal(readRoles('JC VORBERG'), 'jc:f vorberg:f')
  })
})

describe('size', () => {
  test('at most ten words are kept, and particles give way to names', () => {
    const names = Array.from({ length: 12 }, (_, n) => `vorb${String.fromCharCode(97 + n)}`)
    assert.equal(read(names.join(' ')), names.slice(0, 10).join(' '))
    const mixed = readName(`al ${names.slice(0, 9).join(' al ')} al bin`)
    assert.equal(mixed.words.length, MAX_WORDS)
    assert.equal(
      roles(mixed),
      `al:p ${names
        .slice(0, 9)
        .map((text) => `${text}:f`)
        .join(' ')}`,
    )
  })

  test('a word is cut at forty letters', () => {
    assert.equal(read(`Karvol ${'x'.repeat(41)}y Talvost`), `karvol ${'x'.repeat(40)} talvost`)
  })

  test('a compound cannot make a word longer than the engine can hold', () => {
    for (const ending of ['din', 'ullah']) {
      for (const { text } of readName(`Karvol ${`${ending} `.repeat(62)}`).words) assert.ok(text.length <= 62, text)
    }
  })
})

describe('whatever comes', () => {
  test('random Unicode never fails and gives few, short, lower-case ASCII words', () => {
    const random = createRandom(11)
    const character = () => {
      const kind = random.next()
      if (kind < 0.3) return String.fromCharCode(32 + random.below(95))
      if (kind < 0.6) return String.fromCharCode(random.below(0x3000))
      if (kind < 0.9) return String.fromCharCode(random.below(0x10000)) // half surrogates too
      return String.fromCodePoint(0x10000 + random.below(0x20000))
    }
    let seen = 0
    for (let n = 0; n < 4_000; n++) {
      const text = Array.from({ length: random.below(60) }, character).join('')
      for (const name of [readName(text), readPerson(text, character())]) {
        assert.ok(name.words.length <= MAX_WORDS, JSON.stringify(text))
        for (const word of name.words) {
          seen++
          assert.match(word.text, /^[a-z0-9]{1,60}$/, JSON.stringify(text))
          assert.equal(word.role === 'initial', /^[a-z]$/.test(word.text), JSON.stringify(text))
        }
      }
    }
    assert.ok(seen > 10_000, `only ${seen} words`)
  })

  test('case does not matter', () => {
    const names = createNames(12)
    const title = (text: string) => text.replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase())
    for (let n = 0; n < 2_000; n++) {
      const text = names.name()
      for (const other of [text.toUpperCase(), title(text)]) assert.equal(readRoles(other), readRoles(text), other)
    }
  })

  test('whitespace does not matter', () => {
    const { random, name } = createNames(13)
    const space = () => random.pick([' ', '  ', '\t', '\n', '\u00a0', '\u2003', '\u3000', ' \r\n '])
    for (let n = 0; n < 2_000; n++) {
      const text = name()
      const other = `${space()}${text.replace(/ /g, space)}${space()}`
      assert.equal(readRoles(other), readRoles(text), JSON.stringify(other))
    }
  })

  test('diacritics do not matter, composed or not', () => {
    const { random, name } = createNames(14)
    const marks = [...'\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328\u0331']
    for (let n = 0; n < 2_000; n++) {
      const text = name().replace(/[^a-z -]/g, 'v')
      const marked = text.replace(/[a-z]/g, (letter) => (random.next() < 0.4 ? letter + random.pick(marks) : letter))
      for (const form of ['NFC', 'NFD'] as const)
        assert.equal(readRoles(marked.normalize(form)), readRoles(text), marked)
    }
  })

  test('apostrophes join and hyphens part', () => {
    for (const sign of ["'", '’', 'ʼ', '`', '´']) assert.equal(read(`O${sign}Vorberg`), 'ovorberg', sign)
    assert.equal(read('Karvol-Mendrik'), 'karvol mendrik')
  })

  test('only Chinese, Japanese and Korean names keep their signs', () => {
    assert.equal(readName('欧蓝月').native, '欧蓝月')
    assert.equal(readName('금별빛').native, '금별빛')
    assert.equal(readName('Karvol Vorberg').native, '')
    assert.equal(readName('Карвол Ворберг').native, '')
    assert.equal(readName('Карвол Ворберг').script, 'cyrillic')
    assert.equal(read('Карвол Ворберг'), 'karvol vorberg')
  })
})
