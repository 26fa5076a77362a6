import { closeSync, openSync, readSync } from 'node:fs'
import type { ListedEntity } from '../lists/listed.ts'
import type { Expansions } from './expand.ts'
import type { NameIndex } from './name-index.ts'
import type { SearchableList } from './screen.ts'
import { createSearcher } from './search.ts'

/** A list as it is sent to a thread: an index in shared memory, and the location of the records. */
export interface SharedList {
  dataset: string
  version: string
  index: NameIndex
  /** Undefined where the snapshot is of a release that prepared none. */
  expansions?: Expansions | undefined
  records: { path: string; at: number; length: number }
}

export interface OpenList extends SearchableList {
  close(): void
}

/** Keeps the snapshot file open: a version that is deleted from disk still serves the screenings that began with it. */
export function openList({ dataset, version, index, expansions, records }: SharedList): OpenList {
  const file = openSync(records.path, 'r')
  const { recordAt } = index
  return {
    dataset,
    version,
    index,
    searcher: createSearcher(index, { expansions }),
    record(entity) {
      const from = recordAt[entity] as number
      const to = entity + 1 < recordAt.length ? (recordAt[entity + 1] as number) : records.length
      const bytes = Buffer.allocUnsafe(to - from)
      for (let done = 0; done < bytes.length; ) {
        const count = readSync(file, bytes, done, bytes.length - done, records.at + from + done)
        if (count === 0) throw new Error('The records of the snapshot are cut off')
        done += count
      }
      return JSON.parse(bytes.toString()) as ListedEntity
    },
    close: () => closeSync(file),
  }
}
