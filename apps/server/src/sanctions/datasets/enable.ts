/** Brings a public list by its name, from its publisher, a mirror or a folder, and notes the source for the worker. */
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { namesIn } from './fetch-files.ts'
import type { DatasetFiles } from './files.ts'
import type { ImportOutcome } from './import.ts'
import { type PublishedList, pickFiles } from './published.ts'
import type { BringOptions, Refresher } from './refresh.ts'
import { parseSources } from './sources.ts'

/** Where the lists are: a folder of this machine, a folder of a web server, or (null) their publishers. */
export type ListPlace = { folder: string } | { url: string } | null

/** What the worker will look at, and the files that it has now. */
export interface FoundSource {
  from: { folder: string; published: true } | { urls: string[] }
  files: string[]
}

export interface Enabler {
  /** Finds the files of a list. Throws when there are none. Downloads nothing. */
  find(list: PublishedList, place: ListPlace): Promise<FoundSource>
  /** Imports the list and notes its source. Throws the problem; the version in service and its source stay then. */
  enable(list: PublishedList, source: FoundSource, options: EnableOptions): Promise<ImportOutcome>
}

export interface EnableOptions extends BringOptions {
  /** Replaces the publisher's terms. */
  licence?: string | undefined
}

/** To look at a folder costs nothing; publishers are asked four times a day. */
const EVERY = { folder: '5m', urls: '6h' } as const

export function createEnabler(files: Pick<DatasetFiles, 'keepSource'>, refresher: Pick<Refresher, 'bring'>): Enabler {
  return {
    async find(list, place) {
      if (place && 'folder' in place) return findInFolder(list, place.folder)
      const urls = place ? list.files.map((file) => new URL(file, place.url).href) : [...list.urls]
      return { from: { urls }, files: urls }
    },
    async enable({ name, format }, { from }, { licence, ...options }) {
      const every = 'urls' in from ? EVERY.urls : EVERY.folder
      const json = JSON.stringify({ dataset: name, every, format, licence, from })
      // Read as the worker reads it, so that it finds the settings unchanged.
      const [source] = parseSources(`[${json}]`)
      if (!source) throw new Error(`${name} has no source`)
      const outcome = await refresher.bring(source, options)
      await files.keepSource({ name, tenantId: null }, json)
      return outcome
    },
  }
}

/** Looks in the folder itself and in folders in it that have the name of the list or of its group. */
async function findInFolder(list: PublishedList, folder: string): Promise<FoundSource> {
  const about = await stat(folder).catch(() => null)
  if (!about) throw new Error(`There is no folder ${folder}`)
  if (!about.isDirectory()) throw new Error(`${folder} is a file: name the folder that it is in`)
  const places = [folder, join(folder, list.name), join(folder, list.group)]
  for (const place of places) {
    const isThere = await stat(place).then(
      (found) => found.isDirectory(),
      () => false,
    )
    const files = isThere ? pickFiles(list, basename(place), await namesIn(place, { links: true })) : null
    if (files) return { from: { folder: place, published: true }, files }
  }
  const others = places.slice(1).map((place) => basename(place))
  throw new Error(
    `${folder} has no file ${list.files[0]}. Files are recognised by their publisher’s names (${list.files.join(', ')}), in that folder or in a folder ${others.join(' or ')} in it`,
  )
}
