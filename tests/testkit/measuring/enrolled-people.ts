import {
  bucketOf,
  codeAllFaces,
  createWire,
  loadConfig,
  SHARED_PARTITIONS,
  toBytes,
  toHalfvec,
  type Wire,
} from '@ostiary/server/measure'
import pg from 'pg'
import type { People } from '../samples/people.ts'
import { copyRows, field, type Row } from './copy.ts'

const VERSION = 'FACE3_3'
const CHUNK = 20_000
/** The lowest level of evidence. A real enrolment computes it from the number of vectors; no search depends on it. */
const ENROLL_LEVEL = 1

export interface EnrolledPeople {
  wire: Wire
  /**
   * Enrols people in bulk without HTTP. Like an enrolment, it stores each vector twice: encrypted with the person's key, and as a search
   * copy that is turned in space by the tenant's secret rotation. Returns the ids of the people. The tenant must have nobody enrolled.
   */
  load(tenantId: string, people: People, options: LoadOptions): Promise<string[]>
  /** Runs the job that the worker runs every minute: it gives the vectors of each large space (the vectors of a tenant) their codes. */
  code(): Promise<void>
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  close(): Promise<void>
}

export interface LoadOptions {
  livemode: boolean
  persons: number
  /** How many vectors each person has. */
  samples: number
  /** The number of the first person in `people`; the others follow it. */
  from: number
  onProgress?(vectorsWritten: number): void
}

export async function openEnrolledPeople(settings: Record<string, string>): Promise<EnrolledPeople> {
  const wire = createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
  const client = new pg.Client(settings.DATABASE_URL)
  await client.connect()

  async function load(tenantId: string, people: People, options: LoadOptions): Promise<string[]> {
    const { livemode, persons, samples, from } = options
    const keys = await wire.biometrics.groups.findOrCreate({ tenantId, livemode })
    const rotate = keys.rotation(VERSION)
    const partition = bucketOf(tenantId) % SHARED_PARTITIONS
    const puids = Array.from({ length: persons }, () => wire.platform.ids.next(bucketOf(tenantId)))
    const owner = [field.uuid(tenantId), field.bool(livemode)]
    const createdAt = field.timestamp(new Date())
    for (let start = 0; start < persons; start += CHUNK) {
      const chunk = puids.slice(start, start + CHUNK)
      const wrappedKeys = chunk.map((puid) => keys.newPersonKey(puid))
      const personRows = chunk.map((puid, i) => [...owner, field.uuid(puid), wrappedKeys[i] ?? Buffer.of(), createdAt])
      await copyRows(client, 'face_persons (tenant_id, livemode, person_id, wrapped_key, created_at)', personRows)
      const vectors: Row[] = []
      const templates: Row[] = []
      for (const [i, puid] of chunk.entries()) {
        for (let sample = 0; sample < samples; sample++) {
          const seq = (start + i) * samples + sample + 1
          const vector = people.sample(from + start + i, sample)
          const sealed = keys.sealTemplate(
            wrappedKeys[i] ?? Buffer.of(),
            { personId: puid, version: VERSION, seq },
            toBytes(vector),
          )
          const common = [...owner, field.text(VERSION), field.int8(seq), field.uuid(puid), field.int2(ENROLL_LEVEL)]
          vectors.push([field.int4(partition), ...common, toHalfvec(rotate(vector))])
          templates.push([...common, sealed])
        }
      }
      await copyRows(
        client,
        `face_templates (tenant_id, livemode, version, seq, person_id, enroll_level, sealed_vector)`,
        templates,
      )
      await copyRows(
        client,
        `face_vectors_${partition} (shelf, tenant_id, livemode, version, seq, person_id, enroll_level, embedding)`,
        vectors,
      )
      options.onProgress?.((start + chunk.length) * samples)
    }
    await client.query(
      'insert into face_spaces (tenant_id, livemode, version, shelf, last_seq, vectors) values ($1, $2, $3, $4, $5, $5)',
      [tenantId, livemode, VERSION, partition, persons * samples],
    )
    return puids
  }

  return {
    wire,
    load,
    async code() {
      for (const { db } of wire.platform.cells.all()) await codeAllFaces(db)
    },
    query: (text, values) => client.query(text, values),
    async close() {
      await client.end()
      await wire.close()
    },
  }
}
