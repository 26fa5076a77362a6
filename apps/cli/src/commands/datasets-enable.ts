import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type BuildProgress,
  describeList,
  type Enabler,
  type FoundSource,
  type Importer,
  type ImportOutcome,
  type ListPlace,
  type PublishedList,
  publishedLists,
  withPublicLists,
} from '@ostiary/server/operate'
import { type Command, fileAt, type Invocation, text, UsageError } from '../command.ts'
import { paint } from '../terminal.ts'
import { describeProgress, summarise } from './datasets-text.ts'

export const enableCommand: Command = {
  name: 'datasets enable',
  usage: `ostiary datasets enable <list>... [--from <folder or https address>] [--force] [--json]
    [--licence <text> | --non-commercial]

<list> is one or more of:
  ofac           us_ofac_sdn and us_ofac_cons, of the US Treasury (public domain)
  un             un_sc_sanctions, of the UN Security Council (public, terms of use of un.org)
  opensanctions  sanctions, peps and crime, of OpenSanctions. Their data is CC BY-NC: name the licence that you have from
                 them with --licence, or confirm with --non-commercial that you need none (opensanctions.org/licensing)
or the name of a single one, such as us_ofac_sdn.

Reads each list, puts it into service and notes where it came from: the worker looks there again and takes what has
changed, every 5 minutes in a folder, every 6 hours at an address. Without --from the files come from their publishers.
--from /lists finds them in a folder by their publishers’ names: sdn.csv, alt.csv, add.csv, sdn_comments.csv; the same with
cons_ (cons_prim.csv …); consolidated.xml; <name>/entities.ftm.json. --from https://… is a folder with these names on a web
server. A list that cannot be read leaves the version in service as it is, the others get their turn, and the exit code is 1.
--force also takes a list that shrank by more than half.

  ostiary datasets enable ofac un
  ostiary datasets enable ofac un --from /lists`,
  options: {
    from: { type: 'string' },
    licence: { type: 'string' },
    'non-commercial': { type: 'boolean' },
    force: { type: 'boolean' },
  },
  words: ['ofac', 'un', 'opensanctions'],
  run: (invocation) => {
    const asked = readRequest(invocation)
    return withPublicLists(invocation.env, (enabler, datasets) => enableAll(invocation, asked, { enabler, datasets }))
  },
}

interface Asked {
  lists: PublishedList[]
  place: ListPlace
  licence: string | undefined
}

interface Services {
  enabler: Enabler
  datasets: Importer
}

/** What became of one list. */
interface Enabled {
  list: PublishedList
  source: FoundSource | null
  outcome: ImportOutcome | null
  error: string | null
}

function readRequest(invocation: Invocation): Asked {
  if (invocation.args.length === 0) throw new UsageError('Name the lists: ofac, un, opensanctions')
  const lists = namedLists(invocation.args)
  const licence = text(invocation, 'licence')
  const isFree = invocation.options['non-commercial'] === true
  const licensed = lists.filter(({ needsLicence }) => needsLicence).map(({ name }) => name)
  if (licence !== undefined && isFree) throw new UsageError('Give --licence or --non-commercial, not both')
  if (licensed.length > 0 && licence === undefined && !isFree)
    throw new UsageError(
      `${licensed.join(', ')}: OpenSanctions’ data is CC BY-NC, and commercial use needs a licence from them (opensanctions.org/licensing). Name yours with --licence, or say --non-commercial`,
    )
  if (licensed.length === 0 && (licence !== undefined || isFree))
    throw new UsageError('--licence and --non-commercial are for the lists of OpenSanctions')
  return { lists, place: placeOf(invocation), licence }
}

function namedLists(names: readonly string[]): PublishedList[] {
  try {
    return publishedLists(names)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function placeOf(invocation: Invocation): ListPlace {
  const from = text(invocation, 'from')
  if (from === undefined) return null
  if (!/^[a-z]+:\/\//i.test(from)) return { folder: resolve(fileAt(invocation, from)) }
  if (!from.startsWith('https://'))
    throw new UsageError('--from must be a folder or an https address: lists must arrive unchanged')
  if (!URL.canParse(from)) throw new UsageError('--from is not an address')
  const url = new URL(from)
  if (url.search !== '' || url.username !== '' || url.hash !== '')
    throw new UsageError('--from must be a plain address, without user, query or fragment')
  // The last part of an address is a folder unless it looks like a file.
  if (!url.pathname.endsWith('/') && !/\.(csv|xml|json)$/i.test(url.pathname)) url.pathname += '/'
  return { url: url.href }
}

async function enableAll(invocation: Invocation, asked: Asked, services: Services): Promise<number> {
  const { terminal, options } = invocation
  refuseMissing(asked.place)
  const results: Enabled[] = []
  for (const list of asked.lists) results.push(await enableOne(invocation, { ...asked, list }, services))
  const failed = results.filter(({ outcome }) => outcome === null)
  if (options.json) terminal.out(JSON.stringify({ lists: results.map((result) => toJson(result)) }))
  else {
    if (failed.length < results.length) terminal.out(AFTERWARDS)
    if (failed.length > 0) terminal.err(retryText(failed, results.length, invocation))
  }
  return failed.length > 0 ? 1 : 0
}

/** Not once for every list. */
function refuseMissing(place: ListPlace): void {
  if (!place || !('folder' in place)) return
  const found = statSync(place.folder, { throwIfNoEntry: false })
  if (!found) throw new Error(`There is no folder ${place.folder}`)
  if (!found.isDirectory()) throw new Error(`${place.folder} is a file: name the folder that it is in`)
}

const AFTERWARDS =
  'The worker looks for changes from now on; "ostiary datasets list" shows when it last did. Without a worker lists become stale.'

async function enableOne(
  { terminal, options }: Invocation,
  { list, place, licence }: Asked & { list: PublishedList },
  { enabler, datasets }: Services,
): Promise<Enabled> {
  const say = (line: string) => options.json || terminal.out(line)
  let source: FoundSource | null = null
  try {
    source = await enabler.find(list, place)
    for (const line of heading(list, source, list.needsLicence ? licence : undefined)) say(line)
    const outcome = await enabler
      .enable(list, source, {
        licence: list.needsLicence ? licence : undefined,
        force: options.force === true,
        onDownload: (file) => terminal.progress(`${list.name} downloads ${file}`),
        onProgress: (progress: BuildProgress) => terminal.progress(describeProgress(list.name, progress)),
      })
      .finally(() => terminal.progress(''))
    for (const line of summarise(list.name, outcome)) say(`  ${line.replace(`${list.name}: `, '')}`)
    return { list, source, outcome, error: null }
  } catch (error) {
    const current = await datasets.current({ name: list.name, tenantId: null }).catch(() => null)
    const stays = current === null ? 'It is not in service.' : `${current} stays in service.`
    const { message } = error as Error
    terminal.err(paint(terminal, 'red', `${list.name}: not imported. ${message}. ${stays}`))
    return { list, source, outcome: null, error: message }
  }
}

function heading(list: PublishedList, source: FoundSource, licence: string | undefined): string[] {
  const { title, licence: terms } = describeList({ name: list.name, tenantId: null }, list.format ?? 'ftm')
  return [
    `${list.name}: ${title}`,
    `  publisher: ${list.publisher}`,
    `  licence: ${licence ?? terms}`,
    `  source: ${sourceText(source)}`,
  ]
}

/** The folder, or the address up to its last slash, and the names of the files. */
function sourceText({ from, files }: FoundSource): string {
  if ('folder' in from) return `${from.folder}: ${files.join(', ')}`
  const [first = ''] = from.urls
  const base = first.slice(0, first.lastIndexOf('/') + 1)
  return `${base} ${from.urls.map((url) => url.slice(url.lastIndexOf('/') + 1)).join(', ')}`
}

function retryText(failed: readonly Enabled[], total: number, invocation: Invocation): string {
  const [from, licence] = [text(invocation, 'from'), text(invocation, 'licence')]
  const needsLicence = failed.some(({ list }) => list.needsLicence)
  const terms = licence === undefined ? ' --non-commercial' : ` --licence ${JSON.stringify(licence)}`
  const names = failed.map(({ list }) => list.name).join(' ')
  const command = `ostiary datasets enable ${names}${from === undefined ? '' : ` --from ${/^[\w./:@-]+$/.test(from) ? from : JSON.stringify(from)}`}${needsLicence ? terms : ''}`
  const lists = total === 1 ? 'The list was' : `${failed.length} of ${total} lists were`
  const offline = from === undefined ? `\n${OFFLINE}` : ''
  return `${lists} not imported. When the cause is removed: ${command}${offline}`
}

const OFFLINE =
  'Is there no way from this machine to the publishers? Fetch the files elsewhere, copy them into a folder and name it with --from.'

function toJson({ list, source, outcome, error }: Enabled): object {
  const { name, publisher } = list
  if (!outcome) return { dataset: name, state: 'failed', publisher, source: source?.from ?? null, error }
  const { state, version, serving, facts } = outcome
  const { entries, names, skipped, licence } = facts
  return { dataset: name, state, version, serving, publisher, licence, source: source?.from, entries, names, skipped }
}
