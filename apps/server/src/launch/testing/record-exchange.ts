/**
 * Records two sessions as the page of this release plays them: its calls, and the rows that they meet. The release after it plays the calls
 * again on these rows (`recorded-exchange.api.test.ts`). Run it in a checkout of the release, with `tools/services start`:
 *
 *   OSTIARY_TEST_CLUSTER=$(tools/services url) node apps/server/src/launch/testing/record-exchange.ts > last-release.json
 */
import { runFlow, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { createFaces } from '../../biometrics/testing/faces.ts'
import { TEST_MASTER_KEY } from '../../testing/harness.ts'
import { createVerificationFixture, PATH } from '../../verification/testing/fixture.ts'

/** The rows of a table, as JSON. */
export type Rows = Record<string, readonly Record<string, unknown>[]>

export interface RecordedCall {
  at: string
  /** Tables that have other rows than before the last call. */
  rows: Rows
  path: string
  headers: Record<string, string>
  body: string
  status: number
  answer: Record<string, unknown>
}

export interface RecordedSession {
  what: string
  calls: RecordedCall[]
  /** What the host reads afterwards, with its key. */
  key: string
  read: string
  result: Record<string, unknown>
}

export interface Recorded {
  masterKey: string
  sessions: RecordedSession[]
}

type Fixture = Awaited<ReturnType<typeof createVerificationFixture>>

async function record(
  what: string,
  create: (fixture: Fixture) => Promise<{ key: string; sessionId: string; read: string }>,
  person: Omit<SimulatedPerson, 'random' | 'clock'>,
): Promise<RecordedSession> {
  const fixture = await createVerificationFixture()
  const { key, sessionId, read } = await create(fixture)
  const calls: RecordedCall[] = []
  let known: Rows = {}
  const fetching: typeof globalThis.fetch = async (url, init) => {
    const before = await rowsOf(fixture)
    const rows = Object.fromEntries(
      Object.entries(before).filter(([table, of]) => JSON.stringify(of) !== JSON.stringify(known[table])),
    )
    known = before
    const answer = await fetch(url, init)
    calls.push({
      at: fixture.harness.clock.now().toISOString(),
      rows,
      path: new URL(String(url)).pathname,
      headers: init?.headers as Record<string, string>,
      body: new TextDecoder().decode(init?.body as Uint8Array),
      status: answer.status,
      answer: (await answer.clone().json()) as Record<string, unknown>,
    })
    return answer
  }
  const { device, clock } = await fixture.newDevice(sessionId, { fetch: fetching })
  await runFlow(device, { clock, random: seededRandom(1), ...person })
  const result = (await fixture.harness.inject({ url: read, headers: { 'x-api-key': key } })).json()
  await fixture.harness.close()
  return { what, calls, key, read, result }
}

/** Not those of the schema, and not what a process writes for itself. */
const LEFT_OUT = ['schema_migrations', 'worker_leases']

async function rowsOf({ harness: { database } }: Fixture): Promise<Rows> {
  const { rows: tables } = await database.query(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  const found: Rows = {}
  for (const { name } of tables) {
    if (LEFT_OUT.includes(name)) continue
    const { rows } = await database.query(`select to_jsonb(t) as row from ${name} t`)
    if (rows.length > 0) found[name] = rows.map(({ row }) => row)
  }
  return found
}

if (import.meta.main) {
  const sessions = [
    await record(
      'an age check with face and document',
      async ({ age }) => {
        const host = await age.newHost()
        const requirements = ['face', 'identity_document']
        const { sessionId, token } = await host.create({ documentAgeThreshold: 18, requirements })
        return { key: host.key, sessionId, read: `/session/${token}/result` }
      },
      { ageYears: 42, document: {} },
    ),
    await record(
      'an ENROLL with the face',
      async (fixture) => {
        const host = await fixture.newHost()
        const { sessionId } = await host.create('ENROLL', { requirements: ['face'] })
        return { key: host.key, sessionId, read: `${PATH}/${sessionId}/webhook` }
      },
      { ageYears: null, vector: createFaces(29).person() },
    ),
  ]
  const recorded: Recorded = { masterKey: TEST_MASTER_KEY, sessions }
  process.stdout.write(`${JSON.stringify(recorded, null, 1)}\n`)
  process.exit(0)
}
