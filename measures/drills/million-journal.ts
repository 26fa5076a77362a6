import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type Kind, type Step, slotAt } from './million-plan.ts'
import {
  ACKNOWLEDGEMENT_BYTES,
  type Acknowledgement,
  CREATION_BYTES,
  type Creation,
  openRecords,
  readAcknowledgement,
  readCreation,
  readRecords,
  writeAcknowledgement,
  writeCreation,
} from './million-records.ts'

export const creationsFile = (dir: string) => join(dir, 'creations.bin')
export const acknowledgementsFile = (dir: string) => join(dir, 'acknowledgements.bin')

/** What was acknowledged so far, over all pieces. It is on disk before it counts. */
export async function openJournal(dir: string, slots: number) {
  const isDone = new Uint8Array(slots)
  /** Sessions that were created in an earlier piece and not ended in it. */
  const unfinished = new Map<number, Creation>()
  let events = 0
  const note = (slot: number) => {
    if (isDone[slot]) return
    isDone[slot] = 1
    if (slotAt(slot).hasEvent) events++
  }
  for (const record of readRecords(acknowledgementsFile(dir), ACKNOWLEDGEMENT_BYTES)) {
    note(readAcknowledgement(record).slot)
  }
  for (const record of readRecords(creationsFile(dir), CREATION_BYTES)) {
    const creation = readCreation(record)
    if (!isDone[creation.slot]) unfinished.set(creation.slot, creation)
  }
  const creations = await openRecords(creationsFile(dir), CREATION_BYTES)
  const acknowledgements = await openRecords(acknowledgementsFile(dir), ACKNOWLEDGEMENT_BYTES)

  return {
    /** Events acknowledged. */
    events: () => events,
    isComplete: () => !isDone.includes(0),
    creationOf: (slot: number): Creation | undefined => unfinished.get(slot),
    /** The slots that are not acknowledged, each once, in order. */
    *open(): Generator<number> {
      for (let slot = 0; slot < slots; slot++) if (!isDone[slot]) yield slot
    },
    create: (creation: Creation): Promise<void> => creations.append(writeCreation(creation)),
    async acknowledge(acknowledgement: Acknowledgement): Promise<void> {
      await acknowledgements.append(writeAcknowledgement(acknowledgement))
      note(acknowledgement.slot)
    },
    async close(): Promise<void> {
      await creations.close()
      await acknowledgements.close()
    },
  }
}
export type Journal = Awaited<ReturnType<typeof openJournal>>

/** A kill that was made, or the death of a process of receivers. */
export interface MadeKill {
  kind: Kind | 'receivers'
  step?: Step
  /** The step was under way when the kill came. */
  isMet?: boolean
  atEvents: number
  /** Until everything was back. */
  tookMs: number
}

/** What a piece did, for the rate and the report. */
export interface Piece {
  seconds: number
  events: number
  failures: number
  deviceFallbacks: number
  died: string[]
}

/** Lines of JSON, each on disk when it is written. A torn last line, which a killed process has left, is cut off. */
export function createLines<Line>(file: string) {
  if (existsSync(file)) truncateSync(file, readFileSync(file).lastIndexOf('\n') + 1)
  return {
    append(line: Line): void {
      const handle = openSync(file, 'a')
      appendFileSync(handle, `${JSON.stringify(line)}\n`)
      fsyncSync(handle)
      closeSync(handle)
    },
    read(): Line[] {
      if (!existsSync(file)) return []
      const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line) as Line)
    },
  }
}
export type Lines<Line> = ReturnType<typeof createLines<Line>>
export const killLines = (dir: string): Lines<MadeKill> => createLines(join(dir, 'kills.ndjson'))
export const pieceLines = (dir: string): Lines<Piece> => createLines(join(dir, 'pieces.ndjson'))
