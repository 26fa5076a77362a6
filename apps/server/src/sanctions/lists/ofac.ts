import { basename } from 'node:path'
import { countriesNamed } from './countries.ts'
import { readCsv } from './csv-lines.ts'
import type { ListedEntity, ListedName } from './listed.ts'
import { toListed } from './normalise.ts'
import { joinRemarks, readRemarks, turnPersonName } from './ofac-remarks.ts'
import { type ListSource, listError, newTally, skip, type Tally } from './source.ts'

const PARTS = { main: 12, alt: 5, add: 6, comments: 2 } as const
export type OfacPart = keyof typeof PARTS

/** The content of the side files by entity number. Both lists share one sequence of numbers. */
interface Sides {
  alt: Map<string, { text: string; weak: boolean }[]>
  add: Map<string, string[]>
  /** Keyed by list as well, because each list cuts its remarks at another place. */
  comments: Map<string, string[]>
}

/** OFAC's files end with a Ctrl-Z, alone or (saved from a spreadsheet) with empty fields behind it. */
const END_MARK = '\x1a'
const TYPES = new Map([
  ['individual', 'Person'],
  ['vessel', 'Vessel'],
  ['aircraft', 'Airplane'],
  ['entity', 'Organization'],
  ['', 'Organization'],
])

/** Which of OFAC's four files a name stands for: `sdn.csv`, `cons_alt.csv`, `sdn_comments-2025.csv` … */
export function ofacPart(fileName: string): OfacPart | undefined {
  const words = wordsOf(fileName)
  if (words.includes('comments')) return 'comments'
  if (words.includes('alt')) return 'alt'
  if (words.includes('add')) return 'add'
  return words.includes('sdn') || words.includes('prim') ? 'main' : undefined
}

const ALIAS_FILES = { us_ofac_sdn: 'alt.csv', us_ofac_cons: 'cons_alt.csv' } as const

/** The files of aliases that are not among these. Nothing in a list itself shows that its aliases are missing. */
export function missingAliasFiles(fileNames: readonly string[]): string[] {
  const listsOf = (part: OfacPart) => fileNames.filter((name) => ofacPart(name) === part).map(ofacList)
  const withAliases = listsOf('alt')
  const without = listsOf('main').filter((dataset) => !withAliases.includes(dataset))
  return [...new Set(without)].map((dataset) => ALIAS_FILES[dataset])
}

/**
 * Reads the classic OFAC files of the SDN list, the consolidated list or both. It joins them by entity number in memory,
 * which takes 20 MB at most. An entity on both lists becomes one entry.
 */
export async function* readOfac(
  sources: readonly ListSource[],
  tally: Tally = newTally(),
): AsyncGenerator<ListedEntity> {
  const sides: Sides = { alt: new Map(), add: new Map(), comments: new Map() }
  const mains: ListSource[] = []
  for (const source of sources) {
    const part = ofacPart(source.name)
    if (part === undefined)
      throw new Error(`${source.name}: not a file name of OFAC's sdn, cons_prim, alt, add or comments`)
    if (part === 'main') mains.push(source)
    else await readSide(source, part, sides)
  }
  if (mains.length === 0) throw new Error('OFAC: neither sdn.csv nor cons_prim.csv is among the files')

  const entities = new Map<string, ListedEntity>()
  for (const source of mains) {
    const dataset = ofacList(source.name)
    for await (const { number, line, fields } of readRows(source, 'main')) {
      tally.read++
      const entity = entityOf(fields, sides, number, dataset)
      if (!entity) throw listError(source.name, line, 'has an unknown type')
      const earlier = entities.get(number)
      entities.set(number, earlier ? merge(earlier, entity) : entity)
    }
  }
  for (const [number, names] of sides.alt) if (!entities.has(number)) skip(tally, 'alias of no entity', names.length)
  for (const entity of entities.values()) {
    const listed = toListed(entity)
    if (listed) yield listed
    else skip(tally, 'no name')
  }
}

/** The records of one file without its header and end mark. Fields keep their blanks: remarks go on in another file. */
async function* readRows(source: ListSource, part: OfacPart) {
  let first = true
  for await (const { line, fields } of readCsv(source)) {
    const number = fields[0]?.trim() ?? ''
    const isHeader = first && !/^\d/.test(number)
    first = false
    if (isHeader || (number === END_MARK && fields.slice(1).every((field) => field.trim() === ''))) continue
    if (fields.length !== PARTS[part])
      throw listError(source.name, line, `has ${fields.length} fields, not ${PARTS[part]}`)
    if (!/^\d+$/.test(number)) throw listError(source.name, line, 'does not begin with the number of an entity')
    yield { number, line, fields: fields.map((field) => (field.trim() === '-0-' ? '' : field)) }
  }
}

async function readSide(source: ListSource, part: Exclude<OfacPart, 'main'>, sides: Sides): Promise<void> {
  for await (const { number, fields } of readRows(source, part)) {
    if (part === 'alt') push(sides.alt, number, { text: fields[3] ?? '', weak: /weak/i.test(fields[4] ?? '') })
    else if (part === 'add') push(sides.add, number, fields[4] ?? '')
    else push(sides.comments, `${ofacList(source.name)} ${number}`, fields[1] ?? '')
  }
}

function entityOf(fields: readonly string[], sides: Sides, number: string, dataset: string): ListedEntity | undefined {
  const [, name = '', type = '', program = ''] = fields
  const schema = TYPES.get(type.trim().toLowerCase())
  if (schema === undefined) return undefined
  const remarks = readRemarks(joinRemarks(fields[11] ?? '', sides.comments.get(`${dataset} ${number}`) ?? []))
  const listName = (text: string, kind: ListedName['kind']): ListedName => ({
    text: schema === 'Person' ? turnPersonName(text) : text,
    kind,
  })
  return {
    id: `ofac-${number}`,
    schema,
    names: [
      listName(name, 'name'),
      ...(sides.alt.get(number) ?? []).map(({ text, weak }) => listName(text, weak ? 'weak' : 'alias')),
      ...remarks.weakNames.map((text) => listName(text, 'weak')),
    ],
    births: remarks.births,
    countries: [...remarks.countries, ...countriesNamed([fields[9] ?? '', ...(sides.add.get(number) ?? [])])],
    topics: ['sanction'],
    programs: program.split(/\]\s*\[|;/),
    sourceUrl: null,
    datasets: [dataset],
  }
}

function merge(one: ListedEntity, other: ListedEntity): ListedEntity {
  return {
    ...one,
    names: [...one.names, ...other.names.map(({ text, kind }) => ({ text, kind: kind === 'name' ? 'alias' : kind }))],
    births: [...one.births, ...other.births],
    countries: [...one.countries, ...other.countries],
    programs: [...one.programs, ...other.programs],
    datasets: [...one.datasets, ...other.datasets],
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** Which of OFAC's two lists a file belongs to. */
export function ofacList(fileName: string): keyof typeof ALIAS_FILES {
  return wordsOf(fileName).includes('cons') ? 'us_ofac_cons' : 'us_ofac_sdn'
}

function wordsOf(fileName: string): string[] {
  return basename(fileName)
    .toLowerCase()
    .split(/[^a-z]+/)
}
