import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { HIT_BUDGET } from '@ostiary/contract'
import { createMetrics } from '../platform/metrics.ts'
import { createHarness } from '../testing/harness.ts'
import { createHitCounts } from './hit-counts.ts'
import { createNodeMetrics } from './metrics.ts'
import { type Client, createClient, createFaces, feature } from './testing/faces.ts'

const faces = createFaces(53)
/** What there is at once. */
const tokens = HIT_BUDGET.hour.most / 2
/** A process may have answered so many hits of a person that the others do not know of. */
const UNWRITTEN = 4

// Before the hook of the harness, whose database it uses.
after(() => second.close())
const harness = await createHarness()
const second = await createHarness({}, { through: async () => harness.database.url })

/** A tenant with one enrolled person, and a client of its key at each of two processes. */
async function newVictim() {
  const live = { livemode: true, scopes: ['node:*' as const], usagePlanId: 'unmetered' as const }
  const { tenantId, key } = await harness.tenantWithKey(live)
  const clients = [createClient(harness, key), createClient(second, key)] as const
  const face = faces.person()
  const puid = await enrol(clients[0], face)
  return { tenantId, face, puid, clients }
}

async function enrol(client: Client, face: readonly number[]): Promise<string> {
  return (await client.post('plainEnroll', { features: feature(face) })).body.puid
}

/** Asks about the face so many times, at once or one after the other. Returns the number of answers. */
async function answersOf(client: Client, face: readonly number[], times: number, { atOnce }: { atOnce: boolean }) {
  const ask = async () => (await client.post('plainPredict', { features: feature(faces.sample(face, 0.62)) })).http
  const asked: Promise<number>[] = []
  for (let n = 0; n < times; n++) {
    asked.push(ask())
    if (!atOnce) await asked.at(-1)
  }
  const statuses = await Promise.all(asked)
  assert.ok(statuses.every((http) => http === 200 || http === 429))
  return statuses.filter((http) => http === 200).length
}

describe('two processes on one database', () => {
  test('answer 45 predictions that come all at once, and four more at most', async () => {
    const { face, clients } = await newVictim()
    const answered = await Promise.all(clients.map((client) => answersOf(client, face, 100, { atOnce: true })))
    const sum = answered.reduce((a, b) => a + b)
    assert.ok(sum >= tokens && sum <= tokens + UNWRITTEN, answered.join())
  })

  test('and when they count in rows of different seconds', async () => {
    second.clock.advance(1_000)
    const { face, clients } = await newVictim()
    const answered = await Promise.all(clients.map((client) => answersOf(client, face, 100, { atOnce: true })))
    const sum = answered.reduce((a, b) => a + b)
    assert.ok(sum >= tokens && sum <= tokens + UNWRITTEN, answered.join())
  })

  test('enrol no more than that many new people who just miss one, when all come at once', async () => {
    const { face, clients } = await newVictim()
    const miss = async (client: Client) =>
      (await client.post('plainEnroll', { features: feature(faces.sample(face, 0.49)) })).http
    const statuses = await Promise.all(Array.from({ length: 150 }, (_, n) => miss(clients[n % 2 === 0 ? 0 : 1])))
    const enrolled = statuses.filter((http) => http === 200).length
    assert.ok(enrolled >= tokens && enrolled <= tokens + UNWRITTEN, String(enrolled))
    assert.equal(statuses.filter((http) => http === 429).length, 150 - enrolled)
  })

  test('answer exactly four more when one of them knows nothing of what the other has answered since', async () => {
    const { face, clients } = await newVictim()
    const [first, other] = clients
    assert.equal(await answersOf(other, face, 1, { atOnce: false }), 1)
    assert.equal(await answersOf(first, face, 100, { atOnce: true }), tokens)
    assert.equal(await answersOf(other, face, 100, { atOnce: false }), UNWRITTEN - 1)
  })

  test('write no hit twice when what others have written cannot be read', async () => {
    const { face, puid, clients } = await newVictim()
    await harness.database.query(
      `alter table face_hits rename to real_hits;
       create function is_no_reading() returns boolean language plpgsql as $$ begin
         if current_query() like '%stored.slot%' then raise exception 'unreadable'; end if; return true; end $$;
       create view face_hits as select * from real_hits where is_no_reading()`,
    )
    try {
      assert.equal(await answersOf(clients[0], face, 12, { atOnce: false }), 12)
    } finally {
      await harness.database.query(
        'drop view face_hits; drop function is_no_reading; alter table real_hits rename to face_hits',
      )
    }
    const { rows } = await harness.database.query('select sum(hits)::int as sum from face_hits where person_id = $1', [
      puid,
    ])
    assert.equal(rows[0].sum, 10, 'the last two are not due')
    assert.equal(await answersOf(clients[0], face, 100, { atOnce: false }), tokens - 12)
  })

  test('know at once what the other has written before they meet the person', async () => {
    const { face, clients } = await newVictim()
    assert.equal(await answersOf(clients[0], face, 100, { atOnce: false }), tokens)
    assert.equal(await answersOf(clients[1], face, 1, { atOnce: false }), 0)
  })
})

describe('a process that keeps few people in memory', () => {
  test('writes the hits of those it drops, and reads them when they come back', async () => {
    const { tenantId, puid, clients } = await newVictim()
    const others = [await enrol(clients[0], faces.person()), await enrol(clients[0], faces.person())]
    const metrics = createNodeMetrics(createMetrics('0', { processMetrics: false }))
    const counts = createHitCounts({ ...harness.wire.platform, metrics, maxPersons: 2 })
    const caller = (keyId: string) => ({ tenantId, livemode: true, keyId, rateFactor: 1 })
    let answered = 0
    for (let round = 0; round < 30; round++) {
      for (let n = 0; n < 4; n++) if ((await counts.count(caller('attacker'), [puid])) !== 'refuse') answered++
      // The next round begins while the last write is under way.
      await counts.count(caller('anybody'), others)
    }
    assert.equal(answered, tokens)
  })
})
