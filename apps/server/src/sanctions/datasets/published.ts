/**
 * The public lists that `ostiary datasets enable` brings by name: where their publishers offer them, and how their files are recognised in
 * a folder. The addresses are facts of November 2026 and were not fetched during development, which has no internet.
 */
import { ofacList, ofacPart } from '../lists/ofac.ts'
import type { ListFormat } from '../lists/read-list.ts'
import { endOfList, isKnown } from './known.ts'

export interface PublishedList {
  name: string
  /** The name of the group that it is enabled with. */
  group: string
  publisher: string
  /** Undefined where the publisher offers several formats that we read; it is detected then. */
  format: ListFormat | undefined
  /** The publisher's own addresses. */
  urls: readonly string[]
  /** The names that its files have on a mirror. */
  files: readonly string[]
  /** Commercial use needs a licence. */
  needsLicence: boolean
}

/** Redirects to addresses that are valid for an hour, in a storage of the publisher. */
const OFAC_EXPORTS = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/'
const UN_LIST = 'https://scsanctions.un.org/resources/xml/en/consolidated.xml'
const OPEN_SANCTIONS = 'https://data.opensanctions.org/datasets/latest/'
const FTM = 'entities.ftm.json'
const SIMPLE = 'targets.simple.csv'

function ofac(name: string, files: readonly string[]): PublishedList {
  return {
    name,
    group: 'ofac',
    publisher: 'US Treasury, Office of Foreign Assets Control',
    format: 'ofac',
    urls: files.map((file) => `${OFAC_EXPORTS}${file.toUpperCase()}`),
    files,
    needsLicence: false,
  }
}

function openSanctions(name: string): PublishedList {
  return {
    name,
    group: 'opensanctions',
    publisher: 'OpenSanctions',
    format: undefined,
    urls: [`${OPEN_SANCTIONS}${name}/${FTM}`],
    files: [`${name}/${FTM}`],
    needsLicence: true,
  }
}

export const PUBLISHED: readonly PublishedList[] = [
  ofac('us_ofac_sdn', ['sdn.csv', 'alt.csv', 'add.csv', 'sdn_comments.csv']),
  ofac('us_ofac_cons', ['cons_prim.csv', 'cons_alt.csv', 'cons_add.csv', 'cons_comments.csv']),
  {
    name: 'un_sc_sanctions',
    group: 'un',
    publisher: 'United Nations Security Council',
    format: 'un-xml',
    urls: [UN_LIST],
    files: ['consolidated.xml'],
    needsLicence: false,
  },
  ...['sanctions', 'peps', 'crime'].map(openSanctions),
]
const GROUPS = [...new Set(PUBLISHED.map(({ group }) => group))]

export const publishedList = (name: string) => PUBLISHED.find((list) => list.name === name)

/** `ofac (us_ofac_sdn, us_ofac_cons), un (…)`, for messages. */
export const PUBLISHED_NAMES = GROUPS.map((group) => {
  const names = PUBLISHED.filter((list) => list.group === group).map(({ name }) => name)
  return `${group} (${names.join(', ')})`
}).join(', ')

/** The lists that these names stand for, each once. Throws with the way to a list that cannot be enabled. */
export function publishedLists(names: readonly string[]): PublishedList[] {
  for (const name of names) {
    if (!PUBLISHED.some((list) => list.name === name || list.group === name))
      throw new Error(otherWayTo(name) ?? `There is no public list "${name}". There are ${PUBLISHED_NAMES}`)
  }
  return PUBLISHED.filter(({ name, group }) => names.includes(name) || names.includes(group))
}

const ENABLE = 'ostiary datasets enable'

/** What the operator does to get the dataset that a caller named and that is not there. */
export function howToGet(name: string): string {
  const list = publishedList(name)
  // Also the names of collections: the operator may want the publishers' lists in them, without OpenSanctions.
  if (name === 'default' || name === 'sanctions')
    return `${name} is made of the lists that this installation has. The operator brings public ones with "${ENABLE} ofac un"`
  if (list?.needsLicence)
    return `${name} is a public list that this installation does not have yet. The operator brings it with "${ENABLE} ${name} --licence <your licence>", or --non-commercial`
  if (list)
    return `${name} is a public list that this installation does not have yet. The operator brings it with "${ENABLE} ${list.group}"`
  return otherWayTo(name) ?? `The operator brings public lists with "${ENABLE}", for example "${ENABLE} ofac un"`
}

function otherWayTo(name: string): string | undefined {
  const end = endOfList(name)
  if (end) return `${end}. Its last edition can still be imported with "ostiary datasets import ${name} <file>"`
  if (!isKnown(name)) return undefined
  return `The publisher’s own files of ${name} are not read yet. OpenSanctions’ copy is imported with "ostiary datasets import ${name} ${FTM}"`
}

/**
 * The files of a list among those of a folder: the publisher's names in any case, or names that contain them, such as `sdn-2026-11.csv`.
 * Null when the main file is not there. Throws when two files could be the same part, because names do not say which is newer.
 */
export function pickFiles(list: PublishedList, folderName: string, fileNames: readonly string[]): string[] | null {
  if (list.group === 'ofac') return pickOfac(list, fileNames)
  if (list.group === 'un') {
    const main = pickOne(fileNames.filter(isUnFile), list.files)
    return main === null ? null : [main]
  }
  const plain = folderName === list.name ? [FTM, SIMPLE] : []
  const wanted = [...plain, `${list.name}.${FTM}`, `${list.name}.${SIMPLE}`]
  const found = wanted.find((name) => fileNames.includes(name))
  return found === undefined ? null : [found]
}

const isUnFile = (name: string) => /(^|[^a-z])consolidated.*\.xml$/i.test(name)

function pickOfac({ name: dataset, files }: PublishedList, fileNames: readonly string[]): string[] | null {
  const own = fileNames.filter((name) => /\.csv$/i.test(name) && ofacList(name) === dataset)
  const parts = (['main', 'alt', 'add', 'comments'] as const).map((part) =>
    pickOne(
      own.filter((name) => ofacPart(name) === part),
      files,
    ),
  )
  return parts[0] === null ? null : parts.filter((name) => name !== null)
}

/** The publisher's own name wins, so that older editions may lie beside it. */
function pickOne(found: readonly string[], official: readonly string[]): string | null {
  const [first = null, ...more] = found
  if (more.length === 0) return first
  const exact = found.filter((name) => official.includes(name.toLowerCase()))
  if (exact.length === 1) return exact[0] ?? null
  throw new Error(`${found.join(' and ')} could be the same file of the list: leave only the newest in the folder`)
}
