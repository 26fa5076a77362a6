import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ErrorCode, RunHit, RunHitPage, RunPage, RunRecord } from '@ostiary/contract'
import type { LightMyRequestResponse } from 'fastify'
import { createScreening, HEADER, SANCTIONS_KEY } from './testing/screening.ts'

const PATH = '/v2/open-sanctions/runs'
const DAY = 86_400_000
const LIST = 'id,name,dob,topics\n'
const VORBERG = 'e1,Karvol Vorberg,1958-04-03,sanction\n'
const QUORIM = 'e2,Talvostin Quorim,1961-01-09,sanction\n'
const FALK = 'e3,Ilmar Drossfalk,1970-07-07,sanction\n'
const ROWS = { vorberg: 'c1,Karvol,Vorberg,1958-04-03\n', quorim: 'c2,Talvostin,Quorim,1961-01-09\n' }
const FALK_ROW = 'c3,Ilmar,Drossfalk,1970-07-07\n'

const server = await createScreening()
await server.importCsv('people', LIST + VORBERG + QUORIM)
await server.look()

async function tenant(days: number | null = 30, wanted: { livemode?: boolean } = {}) {
  const { tenantId, key } = await server.tenantWithKey({ ...SANCTIONS_KEY, ...wanted })
  if (days !== null) await server.wire.settings.service.set(tenantId, { screeningRunDays: days })
  return { tenantId, key }
}

async function call(key: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
  const headers = { ...(key !== '' && { 'x-api-key': key }), ...(body && { 'content-type': 'application/json' }) }
  return server.inject({ method, url: `${PATH}${path}`, headers, ...(body && { payload: JSON.stringify(body) }) })
}

function refused(response: LightMyRequestResponse, status: number, code: ErrorCode): void {
  assert.deepEqual([response.statusCode, response.json().code], [status, code], response.body)
}

const begin = async (key: string, dataset = 'people', more = {}) => {
  const response = await call(key, 'POST', '', { dataset, ...more })
  assert.equal(response.statusCode, 201, response.body)
  return response.json<RunRecord>()
}
const sendPart = (key: string, run: string, part: number, rows: string, dataset = 'people') =>
  server.screen(HEADER + rows, { key, dataset, query: `?run=${run}&part=${part}` })

async function keep(key: string, parts: readonly string[], more = {}): Promise<RunRecord> {
  const { id } = await begin(key, 'people', more)
  for (const [at, rows] of parts.entries()) await sendPart(key, id, at + 1, rows)
  const done = await call(key, 'POST', `/${id}/complete`, { parts: parts.length })
  assert.equal(done.statusCode, 200, done.body)
  return done.json<RunRecord>()
}

async function hits(key: string, id: string, query = ''): Promise<RunHit[]> {
  const response = await call(key, 'GET', `/${id}/hits${query}`)
  assert.equal(response.statusCode, 200, response.body)
  return response.json<RunHitPage>().items
}
const stored = async (tenantId: string) => {
  const count = async (table: string) =>
    (await server.database.query(`select count(*)::int as n from ${table} where tenant_id = $1`, [tenantId])).rows[0].n
  return [await count('screening_runs'), await count('screening_hits')]
}

describe('what is kept', () => {
  test('nothing unless the tenant has set it, and answers are as they were', async () => {
    const { tenantId, key } = await tenant(null)
    refused(await call(key, 'POST', '', { dataset: 'people' }), 409, 'RUNS_NOT_KEPT')
    const { summary, results } = await server.screen(HEADER + ROWS.vorberg, { key, dataset: 'people' })
    assert.equal(summary.matched.count, 1)
    assert.deepEqual(Object.keys(results[0] ?? {}), [
      'id',
      'firstname',
      'lastname',
      'dob',
      'match',
      'score',
      'warnings',
    ])
    assert.ok(!JSON.stringify({ summary, results }).includes('Key"'))
    assert.deepEqual(await stored(tenantId), [0, 0])
    assert.deepEqual((await call(key, 'GET', '')).json<RunPage>().items, [])
  })

  test('nothing of calls without a key, nor of files outside a run', async () => {
    const { tenantId, key } = await tenant()
    const { id } = await begin(key)
    const file = HEADER + ROWS.vorberg
    refused(await server.send(file, { key: '', dataset: 'people', query: `?run=${id}` }), 401, 'MISSING_API_KEY')
    refused(await call('', 'POST', '', { dataset: 'people' }), 401, 'MISSING_API_KEY')
    refused(await call('', 'GET', ''), 401, 'MISSING_API_KEY')
    server.clock.advance(60_000)
    await server.screen(file, { key: '', dataset: 'people' })
    await server.screen(file, { key, dataset: 'people' })
    assert.deepEqual(await stored(tenantId), [1, 0])
    refused(await server.send(file, { key, dataset: 'people', query: '?part=2' }), 400, 'VALIDATION_FAILED')
  })

  test('the setting is 0 to 400 days', async () => {
    const { tenantId } = await tenant(null)
    const { set } = server.wire.settings.service
    for (const days of [-1, 401, 1.5, '30']) {
      await assert.rejects(set(tenantId, { screeningRunDays: days }), { code: 'VALIDATION_FAILED' })
    }
    for (const days of [0, 400, null]) await set(tenantId, { screeningRunDays: days })
  })

  test('hashes alone: no name, date or id of a row or an entry is in the tables', async () => {
    const { tenantId, key } = await tenant()
    await keep(key, ['customer-0017,Karvol,Vorberg,1958-04-03\n'])
    const { rows } = await server.database.query(
      'select r::text as run, h::text as hit from screening_runs r join screening_hits h using (tenant_id, livemode, run_id) where tenant_id = $1',
      [tenantId],
    )
    const text = JSON.stringify(rows)
    assert.equal(rows.length, 1)
    for (const clear of ['customer-0017', 'Karvol', 'Vorberg', '1958-04-03']) {
      assert.ok(!text.includes(clear) && !text.includes(Buffer.from(clear).toString('hex')), clear)
    }
  })
})

describe('a run', () => {
  test('of several parts is one run, whose keys stand in the answers', async () => {
    const { key } = await tenant()
    const { id } = await begin(key, 'people', { series: 'customers' })
    const first = await sendPart(key, id, 1, ROWS.vorberg + FALK_ROW)
    await sendPart(key, id, 2, ROWS.quorim)
    await sendPart(key, id, 2, ROWS.quorim)
    const run = (await call(key, 'POST', `/${id}/complete`, { parts: 2 })).json<RunRecord>()
    assert.deepEqual(
      [run.state, run.parts, run.rows, run.hits, run.series, run.scoreThreshold, run.version],
      ['COMPLETE', 2, 3, 2, 'customers', 0.95, first.summary.version],
    )
    const [record] = first.summary.matched.records
    const kept = await hits(key, id)
    const hit = kept.find(({ rowKey }) => rowKey === record?.rowKey)
    assert.deepEqual(hit, { rowKey: record?.rowKey, entityKey: record?.matches[0]?.entityKey, score: 1 })
    assert.equal(first.results[0]?.rowKey, record?.rowKey)
    assert.match(first.results[1]?.rowKey ?? '', /^[\w-]{22}$/, 'rows without a hit have a key, too')
    const again = await call(key, 'POST', `/${id}/complete`, { parts: 2 })
    assert.deepEqual([again.statusCode, again.json()], [200, run])
    assert.deepEqual((await call(key, 'GET', `/${id}`)).json(), run)
  })

  test('is refused a part of another dataset, version or threshold, or after its end, and an end without all parts', async () => {
    const { key } = await tenant()
    const { id } = await begin(key)
    const send = (query: string, dataset = 'people') =>
      server.send(HEADER + ROWS.vorberg, { key, dataset, query: `?run=${id}&${query}` })
    refused(await send('part=1', 'demo'), 409, 'RUN_CONFLICT')
    await sendPart(key, id, 2, ROWS.vorberg)
    refused(await send('part=3&scoreThreshold=0.9'), 409, 'RUN_CONFLICT')
    for (const parts of [1, 2, 3]) {
      refused(await call(key, 'POST', `/${id}/complete`, { parts }), 409, 'RUN_CONFLICT')
    }
    await sendPart(key, id, 1, ROWS.quorim)
    assert.equal((await call(key, 'POST', `/${id}/complete`, { parts: 2 })).statusCode, 200)
    refused(await send('part=3'), 409, 'RUN_CONFLICT')
    refused(await call(key, 'POST', `/${id}/complete`, { parts: 3 }), 409, 'RUN_CONFLICT')
    for (const query of ['part=0', 'part=5001', 'part=x']) refused(await send(query), 400, 'VALIDATION_FAILED')
  })

  test('belongs to its tenant and mode; another sees, ends, reads and deletes nothing of it', async () => {
    const [live, other] = [await tenant(30, { livemode: true }), await tenant(30, { livemode: true })]
    const testKey = (
      await server.wire.keys.service.createKey(live.tenantId, {
        ...{ livemode: false, name: 'test', scopes: ['sanctions:run'], allowedIps: [], usagePlanId: 'unmetered' },
      })
    ).api_key
    const run = await keep(live.key, [ROWS.vorberg])
    const open = await begin(live.key)
    const [hit] = await hits(live.key, run.id)
    for (const key of [other.key, testKey]) {
      const own = await keep(key, [ROWS.vorberg])
      refused(await call(key, 'GET', `/${run.id}`), 404, 'NOT_FOUND')
      refused(await call(key, 'GET', `/${run.id}/hits`), 404, 'NOT_FOUND')
      refused(await call(key, 'GET', `/${own.id}/hits?since=${run.id}`), 404, 'NOT_FOUND')
      refused(await call(key, 'DELETE', `/${run.id}`), 404, 'NOT_FOUND')
      refused(await call(key, 'POST', `/${open.id}/complete`, { parts: 1 }), 404, 'NOT_FOUND')
      const sent = await server.send(HEADER + ROWS.vorberg, { key, dataset: 'people', query: `?run=${open.id}` })
      refused(sent, 404, 'NOT_FOUND')
      assert.deepEqual(
        (await call(key, 'GET', '')).json<RunPage>().items.map(({ id }) => id),
        [own.id],
      )
      const [ownHit] = await hits(key, own.id)
      assert.notEqual(ownHit?.rowKey, hit?.rowKey, 'the same row has another key')
      assert.notEqual(ownHit?.entityKey, hit?.entityKey)
    }
  })

  test('that was never completed cannot be read or compared, is deleted after a day, and a completed one can', async () => {
    const { tenantId, key } = await tenant()
    const run = await keep(key, [ROWS.vorberg])
    const { id } = await begin(key)
    await sendPart(key, id, 1, ROWS.vorberg)
    // Here the client is killed.
    refused(await call(key, 'GET', `/${id}/hits`), 409, 'RUN_CONFLICT')
    refused(await call(key, 'GET', `/${run.id}/hits?since=${id}`), 409, 'RUN_CONFLICT')
    refused(await call(key, 'GET', `/${id}/hits?since=${run.id}`), 409, 'RUN_CONFLICT')
    const complete = (await call(key, 'GET', '?state=COMPLETE')).json<RunPage>().items
    assert.deepEqual(
      complete.map((one) => one.id),
      [run.id],
    )
    const { db } = server.wire.platform.cells.all()[0] ?? assert.fail()
    await server.wire.sanctions.runs.purge(db, new Date(server.clock.now().getTime() + DAY))
    assert.deepEqual(await stored(tenantId), [1, 1])
  })

  test('is deleted at once by a call, with its hits', async () => {
    const { tenantId, key } = await tenant()
    const run = await keep(key, [ROWS.vorberg])
    assert.deepEqual(await stored(tenantId), [1, 1])
    assert.equal((await call(key, 'DELETE', `/${run.id}`)).statusCode, 204)
    assert.deepEqual(await stored(tenantId), [0, 0])
    refused(await call(key, 'DELETE', `/${run.id}`), 404, 'NOT_FOUND')
    refused(await call(key, 'GET', '/not-an-id'), 404, 'NOT_FOUND')
  })

  test('is hidden and purged by the setting as it is now, not as it was', async () => {
    const { tenantId, key } = await tenant(30)
    const run = await keep(key, [ROWS.vorberg])
    const { db } = server.wire.platform.cells.all()[0] ?? assert.fail()
    const purge = (days: number) =>
      server.wire.sanctions.runs.purge(db, new Date(server.clock.now().getTime() + days * DAY))
    await purge(29)
    assert.deepEqual(await stored(tenantId), [1, 1])
    await server.wire.settings.service.set(tenantId, { screeningRunDays: 400 })
    await purge(399)
    assert.deepEqual(await stored(tenantId), [1, 1])
    await server.wire.settings.service.set(tenantId, { screeningRunDays: 0 })
    refused(await call(key, 'GET', `/${run.id}`), 404, 'NOT_FOUND')
    assert.deepEqual(await stored(tenantId), [1, 1], 'the job has not run yet')
    await purge(0)
    assert.deepEqual(await stored(tenantId), [0, 0])
  })

  test('[O4] of one tenant that cannot be deleted fails the task, after those of the others are deleted', async () => {
    const [broken, sound] = [await tenant(30), await tenant(30)]
    for (const { key } of [broken, sound]) await keep(key, [ROWS.vorberg])
    const { db } = server.wire.platform.cells.all()[0] ?? assert.fail()
    await server.database.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
       create trigger refuse before delete on screening_runs for each row when (old.tenant_id = '${broken.tenantId}') execute function refuse()`,
    )
    const later = new Date(server.clock.now().getTime() + 31 * DAY)
    await assert.rejects(server.wire.sanctions.runs.purge(db, later), /the runs of 1 tenants could not be purged/)
    assert.deepEqual(
      [await stored(broken.tenantId), await stored(sound.tenantId)],
      [
        [1, 1],
        [0, 0],
      ],
    )
    await server.database.query('drop trigger refuse on screening_runs')
    await server.wire.sanctions.runs.purge(db, later)
    assert.deepEqual(await stored(broken.tenantId), [0, 0])
  })
})

describe('two runs', () => {
  test('of one version have no difference; a newer version shows what is new, gone and changed', async () => {
    const { key } = await tenant()
    await server.importCsv('moving', LIST + VORBERG + QUORIM)
    await server.look()
    const rows = [ROWS.vorberg, ROWS.quorim, FALK_ROW].join('')
    const keepMoving = async () => {
      const { id } = await begin(key, 'moving')
      const reply = await sendPart(key, id, 1, rows, 'moving')
      await call(key, 'POST', `/${id}/complete`, { parts: 1 })
      return { id, keys: new Map(reply.results.map((row) => [row.rowKey, row.id])) }
    }
    const [first, second] = [await keepMoving(), await keepMoving()]
    assert.deepEqual(await hits(key, second.id, `?since=${first.id}`), [])
    await server.importCsv('moving', LIST + QUORIM.replace('sanction', 'sanction;role.pep') + FALK)
    await server.look()
    const third = await keepMoving()
    const differences = async (query = '') =>
      (await hits(key, third.id, `?since=${second.id}${query}`)).map((hit) => [
        ...[third.keys.get(hit.rowKey), hit.change, hit.earlierScore, hit.score],
      ])
    assert.deepEqual((await differences()).toSorted(), [
      ['c1', 'gone', 1, null],
      ['c2', 'changed', 1, 1],
      ['c3', 'new', null, 1],
    ])
    const paged: unknown[] = []
    for (let cursor = ''; ; ) {
      const page = (await call(key, 'GET', `/${third.id}/hits?since=${second.id}&limit=1${cursor}`)).json<RunHitPage>()
      paged.push(...page.items)
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    assert.deepEqual(paged, await hits(key, third.id, `?since=${second.id}`))
    const other = await keep(key, [ROWS.vorberg])
    refused(await call(key, 'GET', `/${other.id}/hits?since=${first.id}`), 409, 'RUN_CONFLICT')
    refused(await call(key, 'GET', `/${third.id}/hits?cursor=eA`), 400, 'VALIDATION_FAILED')
  })

  test('[U2] with more hits than one call compares have the same differences, in pages that may be empty', async () => {
    const { tenantId, key } = await tenant()
    const [first, second] = [await keep(key, [ROWS.vorberg]), await keep(key, [ROWS.vorberg])]
    // 15,000 hits each. Of the second run every seventh key is another, the first 11,000 are equal, and 4,000 at its end are missing.
    const fill = (id: string, keyOf: string, until: number) =>
      server.database.query(
        `insert into screening_hits (tenant_id, livemode, run_id, row_key, entity_key, part, score, facts)
         select $1, false, $2, decode(lpad(to_hex(${keyOf}), 32, '0'), 'hex'), decode(repeat('00', 16), 'hex'), 1, 9900, decode(repeat('00', 8), 'hex')
         from generate_series(1, $3) n`,
        [tenantId, id, until],
      )
    await fill(first.id, '4 * n', 15_000)
    await fill(second.id, 'case when n > 11000 and n % 7 = 0 then 4 * n + 1 else 4 * n end', 14_000)
    const [pages, found]: [number[], RunHit[]] = [[], []]
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await call(
        key,
        'GET',
        `/${second.id}/hits?since=${first.id}&limit=1000${cursor && `&cursor=${cursor}`}`,
      )
      const { items, nextCursor } = page.json<RunHitPage>()
      pages.push(items.length)
      found.push(...items)
      cursor = nextCursor
    }
    const others = 14_000 / 7 - Math.floor(11_000 / 7)
    const count = (change: string) => found.filter((hit) => hit.change === change).length
    assert.deepEqual([count('new'), count('gone'), count('changed')], [others, others + 1_000, 0])
    assert.deepEqual([pages[0], new Set(found.map(({ rowKey }) => rowKey)).size], [0, found.length])
  })

  test('a row without an id is known by name and birth date; one with an id by its id alone', async () => {
    const { key } = await tenant()
    const [plain, same, renamed] = [
      await keep(key, [',Karvol,Vorberg,1958-04-03\nc2,Talvostin,Quorim,1961-01-09\n']),
      await keep(key, ['c2,Talvostin,Quorim,1961-01-09\n', ', KARVOL ,vorberg,1958-04-03\n']),
      await keep(key, [',Karvol,Vorberg,\nc2,Talvostin,Quorim,\n']),
    ]
    assert.deepEqual(await hits(key, same.id, `?since=${plain.id}`), [])
    const changes = (await hits(key, renamed.id, `?since=${plain.id}`)).map(({ change }) => change)
    assert.deepEqual(changes.toSorted(), ['changed', 'gone', 'new'])
  })

  test('an exception takes a hit out of the next run', async () => {
    const { key } = await tenant()
    const before = await keep(key, [ROWS.vorberg])
    const made = await server.inject({
      method: 'POST',
      url: '/v2/open-sanctions/exceptions',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      payload: JSON.stringify({
        ...{ recordId: 'c1', firstname: 'Karvol', lastname: 'Vorberg', dob: '1958-04-03', entityId: 'e1' },
        ...{ reason: 'Passport seen', expiresAt: new Date(server.clock.now().getTime() + DAY).toISOString() },
      }),
    })
    assert.equal(made.statusCode, 201, made.body)
    const next = await keep(key, [ROWS.vorberg])
    const [gone] = await hits(key, next.id, `?since=${before.id}`)
    assert.deepEqual([next.hits, gone?.change], [0, 'gone'])
  })
})
