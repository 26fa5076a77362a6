import { SaxesParser } from 'saxes'
import { parseIsoBirth, parseUnBirth } from './births.ts'
import { countriesNamed } from './countries.ts'
import type { ListedEntity, ListedName } from './listed.ts'
import { toListed } from './normalise.ts'
import { type ListSource, listError, newTally, readText, skip, type Tally } from './source.ts'
import { splitUnName } from './un-names.ts'

/** An element of one entry: the UN's entries are small, so that each is built whole before it is read. */
interface Element {
  name: string
  text: string
  children: Element[]
}

const BETWEEN = 'what stands between two entries'
const ROOT = 'CONSOLIDATED_LIST'
const SCHEMAS: Record<string, string> = { INDIVIDUAL: 'Person', ENTITY: 'Organization' }
/** The real list is 5 deep, and its largest entry has 9,030 characters. Without limits, a hostile file would be loaded into memory. */
const MAX_DEPTH = 50
const MAX_ENTRY_CHARS = 4 << 20
/** How much the parser gets at once. The size is checked in between: within a tag or a text the parser reports nothing. */
const WRITE_CHARS = 1 << 16
const NAME_PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME']

/** Reads the consolidated list of the UN Security Council. */
export async function* readUnXml(source: ListSource, tally: Tally = newTally()): AsyncGenerator<ListedEntity> {
  const ready: { line: number; element: Element }[] = []
  const parser = createParser(source.name, (element, line) => ready.push({ line, element }))
  for await (const text of readText(source)) {
    parser.write(text)
    for (const { line, element } of ready.splice(0)) {
      tally.read++
      const id = textAt(element, 'DATAID').trim()
      if (id === '') throw listError(source.name, line, 'the entry has no DATAID')
      const listed = toListed(entityOf(element, id))
      if (listed) yield listed
      else skip(tally, 'no name')
    }
  }
  parser.close()
}

/** A document type is refused: the list has none, and its entities could make a small file a huge one. */
function createParser(file: string, onEntry: (element: Element, line: number) => void) {
  const parser = new SaxesParser<{ position: true }>({ position: true })
  const open: Element[] = []
  let depth = 0
  /** Start of the current entry or gap; nothing before it is kept in memory. */
  let began = { line: 1, position: 0, what: BETWEEN }
  const begin = (what: string) => {
    began = { line: parser.line, position: parser.position, what }
  }
  const fail = (problem: string) => listError(file, parser.line, problem)

  parser.on('error', (error) => {
    throw fail(`is not valid XML (${error.message.replace(/^[\d:]+\s*/, '')})`)
  })
  parser.on('doctype', () => {
    throw fail('a document type is not allowed')
  })
  // Before its attributes, which count for the entry.
  parser.on('opentagstart', ({ name }) => {
    if (++depth > MAX_DEPTH) throw fail(`elements are more than ${MAX_DEPTH} deep`)
    if (open.length === 0) begin(Object.hasOwn(SCHEMAS, name) ? 'the entry' : BETWEEN)
  })
  parser.on('opentag', ({ name }) => {
    if (depth === 1 && name !== ROOT) throw fail(`the document is not a ${ROOT}`)
    if (open.length === 0 && !Object.hasOwn(SCHEMAS, name)) return
    const element: Element = { name, text: '', children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  const addText = (text: string) => {
    const element = open.at(-1)
    if (element) element.text += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    depth--
    const element = open.pop()
    if (element && open.length === 0) onEntry(element, parser.line)
    if (open.length === 0) begin(BETWEEN)
  })
  return {
    write(text: string): void {
      for (let at = 0; at < text.length; at += WRITE_CHARS) {
        parser.write(text.slice(at, at + WRITE_CHARS))
        if (parser.position - began.position > MAX_ENTRY_CHARS)
          throw listError(file, began.line, `${began.what} has more than ${MAX_ENTRY_CHARS} characters`)
      }
    },
    close: () => parser.close(),
  }
}

function entityOf(entry: Element, id: string): ListedEntity {
  const name = NAME_PARTS.map((part) => orNone(textAt(entry, part))).join(' ')
  const aliases = childrenAt(entry, `${entry.name}_ALIAS`)
  const countries = [
    ...childrenAt(entry, 'NATIONALITY').flatMap((nationality) => textsAt(nationality, 'VALUE')),
    ...childrenAt(entry, `${entry.name}_ADDRESS`).flatMap((address) => textsAt(address, 'COUNTRY')),
  ]
  return {
    id: `un-${id}`,
    schema: SCHEMAS[entry.name] ?? 'LegalEntity',
    names: [
      { text: name, kind: 'name' },
      ...textsAt(entry, 'NAME_ORIGINAL_SCRIPT').map((text) => ({ text, kind: 'name' as const })),
      ...splitUnName(name).map((text) => ({ text, kind: 'alias' as const })),
      ...aliases.flatMap(aliasNames),
    ],
    births: [
      ...childrenAt(entry, 'INDIVIDUAL_DATE_OF_BIRTH').flatMap((birth) => birthOf(birth) ?? []),
      // A false identity has a birth date of its own.
      ...aliases.flatMap((alias) => parseIsoBirth(textAt(alias, 'DATE_OF_BIRTH')) ?? []),
    ],
    countries: countriesNamed(countries),
    topics: ['sanction'],
    programs: [...textsAt(entry, 'UN_LIST_TYPE'), ...textsAt(entry, 'REFERENCE_NUMBER')],
    sourceUrl: null,
    datasets: ['un_sc_sanctions'],
  }
}

function aliasNames(alias: Element): ListedName[] {
  const kind = /^low$/i.test(textAt(alias, 'QUALITY').trim()) ? 'weak' : 'alias'
  return splitUnName(orNone(textAt(alias, 'ALIAS_NAME'))).map((text) => ({ text, kind }))
}

function birthOf(birth: Element) {
  return parseUnBirth({
    type: textAt(birth, 'TYPE_OF_DATE'),
    date: textAt(birth, 'DATE'),
    year: textAt(birth, 'YEAR'),
    fromYear: textAt(birth, 'FROM_YEAR'),
    toYear: textAt(birth, 'TO_YEAR'),
    note: textAt(birth, 'NOTE'),
  })
}

/** The UN writes "na" where there is nothing to write. */
function orNone(text: string): string {
  return /^n\.?a\.?$/i.test(text.trim()) ? '' : text
}

function childrenAt(element: Element, name: string): Element[] {
  return element.children.filter((child) => child.name === name)
}

function textsAt(element: Element, name: string): string[] {
  return childrenAt(element, name).map(({ text }) => text)
}

function textAt(element: Element, name: string): string {
  return textsAt(element, name)[0] ?? ''
}
