import { bucketOf, createWire, loadConfig, toBytes, toHalfvec, type Wire } from '@ostiary/server/measure'
import pg from 'pg'
import type { People } from '../samples/people.ts'
import { copyRows, field, type Row } from './copy.ts'

const VERSION = 'FACE3_3'
const CHUNK = 20_000

export interface EnrolledPeople {
  wire: Wire
  /** Enrols people in bulk without HTTP: it writes the same rows as an enrolment, sealed and rotated in the same way. */
  load(tenantId: string, people: People, wanted: Wanted): Promise<string[]>
  /** Runs the worker's job of every minute: it gives each large space its own vector partition and index. */
  arrange(): Promise<number>
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  close(): Promise<void>
}

export interface Wanted {
  livemode: boolean
  persons: number
  samples: number
  /** The number of the first person. */
  from: number
  onProgress?(done: number): void
}

export async function openEnrolledPeople(settings: Record<string, string>): Promise<EnrolledPeople> {
  const wire = createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
  const client = new pg.Client(settings.DATABASE_URL)
  await client.connect()

  async function load(tenantId: string, people: People, wanted: Wanted): Promise<string[]> {
    const group = { tenantId, livemode: wanted.livemode }
    const keys = await wire.biometrics.groups.findOrCreate(group)
    const rotate = keys.rotation(VERSION)
    const partition = bucketOf(tenantId) % 16
    const puids = Array.from({ length: wanted.persons }, () => wire.platform.ids.next(bucketOf(tenantId)))
    const space = [field.uuid(tenantId), field.bool(wanted.livemode)]
    for (let start = 0; start < wanted.persons; start += CHUNK) {
      const chunk = puids.slice(start, start + CHUNK)
      const wrapped = chunk.map((puid) => keys.newPersonKey(puid))
      const persons = chunk.map((puid, i) => [...space, field.uuid(puid), wrapped[i] ?? Buffer.of(), NOW])
      await copyRows(client, 'face_persons (tenant_id, livemode, person_id, wrapped_key, created_at)', persons)
      const vectors: Row[] = []
      const templates: Row[] = []
      for (const [i, puid] of chunk.entries()) {
        for (let sample = 0; sample < wanted.samples; sample++) {
          const seq = (start + i) * wanted.samples + sample + 1
          const vector = people.sample(wanted.from + start + i, sample)
          const sealed = keys.sealTemplate(
            wrapped[i] ?? Buffer.of(),
            { personId: puid, version: VERSION, seq },
            toBytes(vector),
          )
          const common = [...space, field.text(VERSION), field.int8(seq), field.uuid(puid), field.int2(1)]
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
      wanted.onProgress?.((start + chunk.length) * wanted.samples)
    }
    await client.query(
      'insert into face_spaces (tenant_id, livemode, version, shelf, last_seq, vectors) values ($1, $2, $3, $4, $5, $5)',
      [tenantId, wanted.livemode, VERSION, partition, wanted.persons * wanted.samples],
    )
    return puids
  }

  return {
    wire,
    load,
    async arrange() {
      let moved = 0
      for (const { db } of wire.platform.cells.all()) moved += await wire.biometrics.vectorPartitions.arrange(db)
      return moved
    },
    query: (text, values) => client.query(text, values),
    async close() {
      await client.end()
      await wire.close()
    },
  }
}

const NOW = field.timestamp(new Date())
