import { parseIsoBirth } from './births.ts'
import { countriesCoded } from './countries.ts'
import { readLines } from './lines.ts'
import type { ListedEntity, ListedName } from './listed.ts'
import { firstWebAddress, toListed } from './normalise.ts'
import { type ListSource, listError, newTally, skip, type Tally } from './source.ts'

/** The part of a FollowTheMoney entity that we read. */
export interface FtmEntity {
  id: string
  schema: string
  datasets: string[]
  /** The values of a property; empty where the entity has none. */
  values(property: string): string[]
}

/** Schemas with a name that cannot be customers. All others are kept, so that an unknown schema leaves no gap. */
const NO_PARTY = new Set(['Address', 'Position'])
/** First and last names come unpaired, in several scripts; a few pairs suffice. */
const MAX_PAIRED_NAMES = 50

/** Reads OpenSanctions' `entities.ftm.json`: one entity in JSON on each line. */
export async function* readFtm(source: ListSource, tally: Tally = newTally()): AsyncGenerator<ListedEntity> {
  for await (const lines of readLines(source)) {
    for (const { line, text } of lines) {
      const entity = listFtm(parseFtm(parseJson(source.name, line, text), source.name, line), tally)
      if (entity) yield entity
    }
  }
}

/** The entry that an entity makes, or null when it cannot be screened against; counts it either way. */
export function listFtm(entity: FtmEntity, tally: Tally): ListedEntity | null {
  tally.read++
  if (NO_PARTY.has(entity.schema)) {
    skip(tally, 'not a party')
    return null
  }
  const { id, schema, datasets, values } = entity
  const listed = toListed({
    id,
    schema,
    names: namesOf(entity),
    births: values('birthDate').flatMap((text) => parseIsoBirth(text) ?? []),
    countries: countriesCoded([...values('nationality'), ...values('citizenship'), ...values('country')]),
    topics: values('topics'),
    programs: [...values('programId'), ...values('program')],
    sourceUrl: firstWebAddress(values('sourceUrl')),
    datasets,
  })
  if (!listed) skip(tally, 'no name')
  return listed
}

/** The engine's own message is left out, because it quotes the line. */
export function parseJson(file: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw listError(file, line, 'is not valid JSON')
  }
}

export function parseFtm(value: unknown, file: string, line: number): FtmEntity {
  if (!isObject(value)) throw listError(file, line, 'is not an entity')
  const { id, schema, properties, datasets } = value
  if (typeof id !== 'string' || id === '') throw listError(file, line, 'the entity has no id')
  if (typeof schema !== 'string' || schema === '') throw listError(file, line, 'the entity has no schema')
  if (!isObject(properties)) throw listError(file, line, 'the entity has no properties')
  return {
    id,
    schema,
    datasets: textsOf(datasets, 'datasets', file, line),
    values: (property) => textsOf(properties[property], property, file, line),
  }
}

function namesOf({ values }: FtmEntity): ListedName[] {
  const named = (kind: ListedName['kind'], texts: readonly string[]) => texts.map((text) => ({ text, kind }))
  const names = named('name', values('name'))
  return [
    ...(names.some(({ text }) => text.trim() !== '') ? names : named('name', pairedNames(values))),
    ...named('alias', [...values('alias'), ...values('previousName')]),
    ...named('weak', values('weakAlias')),
  ]
}

/** Only for entities without a whole name: every first name with every last name, the middle ones where they are plain. */
function pairedNames(values: FtmEntity['values']): string[] {
  const filled = (property: string) => values(property).filter((text) => text.trim() !== '')
  const orNone = (texts: string[]) => (texts.length === 0 ? [''] : texts)
  const middle = ['secondName', 'fatherName'].flatMap((property) => {
    const texts = filled(property)
    return texts.length === 1 ? texts : []
  })
  const [firsts, lasts] = [filled('firstName'), filled('lastName')]
  if (firsts.length + lasts.length === 0) return []
  const pairs = orNone(firsts).flatMap((first) => orNone(lasts).map((last) => [first, ...middle, last].join(' ')))
  return pairs.slice(0, MAX_PAIRED_NAMES)
}

/** Some publishers write a lone value without its list. */
function textsOf(value: unknown, what: string, file: string, line: number): string[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw listError(file, line, `"${what}" is not a list of texts`)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
