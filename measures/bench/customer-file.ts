/**
 * A customer's file to screen against a generated list: a few misspelt rows of listed people among many of others. The id of
 * a row names the entity that it was made from.
 */
import { SANCTIONS_LIMITS } from '@ostiary/contract'
import { loadNegatives, missingData, namesOf } from '@ostiary/testkit/samples/labelled'
import {
  createRandom,
  isFamilyFirst,
  pick,
  type Random,
  type SyntheticEntity,
  syntheticEntities,
} from '@ostiary/testkit/samples/synthetic-list'

export interface CustomerOptions {
  /** The listed people to be found. With fewer than `positives`, some occur more than once. */
  entities: readonly SyntheticEntity[]
  rows?: number
  positives?: number
  seed?: number
}

interface Customer {
  id: string
  first: string
  last: string
  dob: string
}

const KINDS = ['same', 'same', 'letter', 'missing', 'turned', 'swapped', 'short'] as const
type Kind = (typeof KINDS)[number]

export function customerFile({ entities, rows = 40_000, positives = 2_000, seed = 1 }: CustomerOptions): string {
  const random = createRandom(seed)
  const customers = Array.from({ length: positives }, (_, n) => {
    const entity = entities[n % entities.length]
    if (!entity) throw new Error('There are no entities to make customers from')
    return listedCustomer(random, entity, n)
  })
  customers.push(...strangers(random, rows - positives))
  shuffle(random, customers)
  const lines = customers.map(({ id, first, last, dob }) => [id, first, last, dob].map(quoted).join(','))
  const text = `id,firstname,lastname,dob\n${lines.join('\n')}\n`
  if (Buffer.byteLength(text) > SANCTIONS_LIMITS.fileBytes)
    throw new Error(`${rows} rows are more than a file may hold`)
  return text
}

/** The entity a row was made from and what was done to its name; undefined when it is on no list. */
export function originOf(id: string): { entityId: string; kind: string } | undefined {
  const [entityId = '', kind] = id.split('|')
  return kind === undefined ? undefined : { entityId, kind }
}

function listedCustomer(random: Random, entity: SyntheticEntity, n: number): Customer {
  const kind = pick(random, KINDS)
  // A name without spaces, as Chinese names may be written, has no separate family name.
  const words = pick(
    random,
    namesOf(entity).filter((name) => name.includes(' ')),
  ).split(' ')
  if (isFamilyFirst(entity.caption)) words.push(words.shift() ?? '')
  const birth = entity.properties.birthDate[0] ?? ''
  const dob = birth.length === 10 && random() < 0.8 ? birth : ''
  return { id: `${entity.id}|${kind}|${n}`, ...columns(mutated(random, words, kind)), dob }
}

const columns = (words: readonly string[]) => ({ first: words.slice(0, -1).join(' '), last: words.at(-1) ?? '' })

function mutated(random: Random, words: string[], kind: Kind): string[] {
  const last = words.at(-1) ?? ''
  if (kind === 'swapped') return [last, ...words.slice(0, -1)]
  if (kind === 'short') return words.length > 2 ? [words[0] ?? '', last] : words
  const long = [...words.keys()].filter((at) => (words[at] ?? '').length >= 5)
  if (kind === 'same' || long.length === 0) return words
  const at = pick(random, long)
  return words.with(at, slipped(random, words[at] ?? '', kind))
}

/** Makes one typing error, never in the first letter. */
function slipped(random: Random, word: string, kind: Kind): string {
  if (/\p{M}/u.test(word)) return word
  const at = 1 + Math.floor(random() * (word.length - 2))
  const [before, letter, after] = [word.slice(0, at), word.slice(at, at + 1), word.slice(at + 1)]
  if (kind === 'missing') return before + after
  if (kind === 'turned') return before + after.slice(0, 1) + letter + after.slice(1)
  const letters = /[a-z]/i.test(word) ? 'abcdefghijklmnopqrstuvwxyz' : word
  return before + pick(random, [...letters]) + after
}

/** The odd rows of the files of people on no list: the even ones gave the list its words. */
function strangers(random: Random, count: number): Customer[] {
  if (missingData() !== undefined) {
    return Array.from(syntheticEntities(count, { seed: 2 ** 31 - 1 }), ({ caption, properties }, n) => {
      return { id: `neg-${n}`, ...columns(caption.split(' ')), dob: properties.birthDate[0] ?? '' }
    })
  }
  const people = loadNegatives(true).filter((_, at) => at % 2 === 1)
  shuffle(random, people)
  return Array.from({ length: count }, (_, n) => {
    const { first = '', last = '', dob = '' } = people[n % people.length] ?? {}
    return { id: `neg-${n}`, first, last, dob }
  })
}

function shuffle<T>(random: Random, values: T[]): void {
  for (let at = values.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    const [a, b] = [values[at] as T, values[other] as T]
    values[at] = b
    values[other] = a
  }
}

const quoted = (field: string) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)
