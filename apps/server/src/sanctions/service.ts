import type { Readable } from 'node:stream'
import { SANCTIONS_LIMITS, type ScreenPeopleBody, type ScreenReply } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { type Person, toPerson } from './csv.ts'
import type { HeldDataset, Library } from './datasets/library.ts'
import { SCORER_VERSION } from './engine/calibration.ts'
import { joinPacked, packText, unpackTexts } from './engine/packed-text.ts'
import type { Pool } from './engine/pool.ts'
import type { RowsAnswer, ScreeningRow } from './engine/rows.ts'
import { digestPerson, type ExceptionService } from './exceptions.ts'
import { createFileSlots } from './file-slots.ts'
import type { ProcessorTime, ProcessorTimeOf } from '../platform/processor-budget.ts'
import type { SanctionsMetrics } from './metrics.ts'
import type { Rows } from './packed-people.ts'
import type { RunPart, RunService } from './runs.ts'
import { readUpload, type Upload } from './upload.ts'

interface Deps {
  library: Library
  pool: Pool
  exceptions: ExceptionService
  runs: RunService
  metrics: SanctionsMetrics
  processorTimeOf: ProcessorTimeOf
  /** Threads that screen. */
  threads: number
}

/** What every check needs, whatever it compares. */
export interface Asked {
  caller: Caller
  dataset: string
  threshold: number
  requestId: string
  /** Fires when the caller has gone. */
  signal: AbortSignal
  /** Checks with the same sender count together: the key, or the network of a caller without a key. */
  sender: string
  /** Settles when the reply is sent or its connection is closed. Until then the reply is in memory, and the check keeps its slot. */
  answered: Promise<void>
}

export interface PeopleScreening extends Asked {
  people: ScreenPeopleBody['people']
}

export interface FileScreening extends Asked {
  version: string | undefined
  /** The run that this file is a part of. */
  run: { id: string; part: number } | undefined
  /** The form with the file. It is read only once the file can be screened. */
  upload: Upload
}

type Compare = Omit<Asked, 'sender' | 'answered'>
interface Compared {
  people: Rows<Person>
  isFile: boolean
  spend: ProcessorTime['spend']
  run?: RunPart | undefined
}

/** Files of all callers that are in memory at once, and those of one tenant. */
const MOST_FILES = 64
const MOST_FILES_OF_TENANT = MOST_FILES / 4
const WAIT_FOR_SLOT_MS = 500
/** Calls of `match` at once. A hundred crafted rows may take as long as a file, and each call holds its people and its answer. */
const MATCH_SLOTS = { perSender: 4, perTenant: 16, total: 64, waitMs: WAIT_FOR_SLOT_MS }
const MATCH_CPU_MS = 10_000

export function createSanctionsService({
  library,
  pool,
  exceptions,
  runs,
  metrics,
  processorTimeOf,
  threads: processors,
}: Deps) {
  const takeSlot = createFileSlots({
    perSender: SANCTIONS_LIMITS.concurrentFiles,
    perTenant: MOST_FILES_OF_TENANT,
    total: MOST_FILES,
    waitMs: WAIT_FOR_SLOT_MS,
  })

  const takeMatchSlot = createFileSlots(MATCH_SLOTS)

  /** Rows with the same id may be different people, so an exception must match the person and not only the id. */
  async function withExceptions(caller: Caller, people: Rows<Person>): Promise<Rows<ScreeningRow>> {
    const { applied, stale } = await exceptions.forRows(caller, people)
    if (applied.size === 0 && stale.size === 0) return people
    const toRow = (person: Person): ScreeningRow => {
      const found = applied.get(person.id)
      const digest = found && digestPerson(caller.tenantId, person)
      const own = found?.filter(({ personDigest }) => digest?.equals(personDigest))
      const warnings = stale.has(person.id) ? [...person.warnings, 'STALE_EXCEPTION' as const] : person.warnings
      return {
        ...person,
        warnings,
        ...(own && own.length > 0 && { exceptions: own.map(({ personDigest: _digest, ...exception }) => exception) }),
      }
    }
    return { length: people.length, slice: (from, to) => people.slice(from, to).map(toRow) }
  }

  /** Compares the rows with a dataset that is held, and writes the answer. */
  async function compare(
    asked: Compare,
    held: HeldDataset,
    { people, isFile, spend, run }: Compared,
  ): Promise<Readable> {
    const { caller, dataset, threshold, requestId, signal } = asked
    const checked = { version: held.version, scorerVersion: SCORER_VERSION, threshold }
    run?.check(checked)
    const rows = await withExceptions(caller, people)
    const answers = await pool.run({
      ...{ owner: ownerOf(caller), keys: held.keys, dataset, threshold, rows, signal, spend },
      ...(!isFile && { cpuMsMax: MATCH_CPU_MS }),
      ...(run && { hitKey: run.hitKey }),
    })
    // Before the answer is sent: a part that the caller knows to be screened is in the run.
    await run?.store(rows.length, answers, checked)
    metrics.rows(rows.length, answers, isFile)
    const reply = writeReply(rows.length, answers, {
      dataset,
      version: held.version,
      scorerVersion: SCORER_VERSION,
      scoreThreshold: threshold,
      runId: requestId,
      stale: held.stale,
    })
    return unpackTexts(reply)
  }

  return {
    datasets: (caller: Caller) => library.list(tenantOf(caller)),

    /** The answer for a file as JSON. It is unpacked while it is read. */
    async screenFile({ sender, version, run, answered, upload, ...asked }: FileScreening): Promise<Readable> {
      const { caller, dataset } = asked
      const { ask, spend } = processorTimeOf('screening', caller, { processors, sender })
      ask()
      const part = run && (await runs.beginPart(caller, { ...run, dataset }))
      const freeSlot = await takeSlot({ sender, tenant: ownerOf(caller) })
      let held: HeldDataset | undefined
      try {
        // An earlier version is loaded from disk for this file only, so it is not loaded before the file has arrived.
        if (version === undefined) held = await library.hold(dataset, tenantOf(caller))
        const people = await readUpload(upload)
        held ??= await library.hold(dataset, tenantOf(caller), version)
        const answer = await compare(asked, held, { people, isFile: true, spend, run: part })
        void answered.finally(freeSlot)
        return answer
      } catch (error) {
        freeSlot()
        throw error
      } finally {
        held?.release()
      }
    },

    /** The same answer for a few people. */
    async screenPeople({ sender, answered, people, ...asked }: PeopleScreening): Promise<Readable> {
      const rows = people.map(({ id = '', firstname = '', lastname = '', dob = '' }, at) =>
        toPerson(at + 1, [id, firstname, lastname, dob]),
      )
      const { ask, spend } = processorTimeOf('screening', asked.caller, { processors, sender })
      ask()
      const freeSlot = await takeMatchSlot({ sender, tenant: ownerOf(asked.caller) })
      let held: HeldDataset | undefined
      try {
        held = await library.hold(asked.dataset, tenantOf(asked.caller))
        const answer = await compare(asked, held, { people: rows, isFile: false, spend })
        void answered.finally(freeSlot)
        return answer
      } catch (error) {
        freeSlot()
        throw error
      } finally {
        held?.release()
      }
    },
  }
}
export type SanctionsService = ReturnType<typeof createSanctionsService>

/** Callers without a key can have as many addresses as they like, so they share one share. */
const CALLERS_WITHOUT_KEY = 'callers without a key'

const ownerOf = (caller: Caller) => tenantOf(caller) ?? CALLERS_WITHOUT_KEY

const tenantOf = ({ keyId, tenantId }: Caller) => (keyId === undefined ? null : tenantId)

type Facts = Pick<
  ScreenReply['summary'],
  'dataset' | 'version' | 'scorerVersion' | 'scoreThreshold' | 'runId' | 'stale'
>

/** Joins the JSON that the threads wrote. Parsing a million rows only to serialise them again would be a waste. */
function* writeReply(total: number, answers: readonly RowsAnswer[], facts: Facts): Generator<Uint8Array> {
  const count = answers.reduce((sum, { matched }) => sum + matched, 0)
  const warnings = answers.reduce((sum, { warned }) => sum + warned, 0)
  yield packText(`{"summary":{"total":${total},"matched":{"count":${count},"records":[`)
  yield* joinPacked(answers.map(({ records }) => records))
  const truncated = answers.some(({ shortened }) => shortened) ? ',"truncated":true' : ''
  yield packText(`]${truncated}},${JSON.stringify({ ...facts, warnings }).slice(1)},"results":[`)
  yield* joinPacked(answers.map(({ results }) => results))
  yield packText(']}')
}
