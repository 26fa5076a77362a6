import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PROCESSOR_BUDGETS } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import type { LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { createHarness } from '../testing/harness.ts'
import { CHECK, type Client, createClient, createFaces, feature, PATHS } from './testing/faces.ts'

const faces = createFaces(13)
const ENROLMENT_FAILED = [500, { status: 152, message: 'Face enrollment failed' }]
const PREDICTION_FAILED = [500, { status: 153, message: 'Face authentication failed' }]
const SERVER_FAULT = [500, { status: 500, message: 'Server-side processing error' }]
const harness = await createHarness()
const client = createClient(harness, (await harness.tenantWithKey({ scopes: ['node:*'] })).key)
await call('plainEnroll', { features: feature(faces.person()) })

async function call(path: string, body: object) {
  const reply = await client.post(path, body)
  return [reply.http, reply.body]
}

/** Every row of every table that an enrolment writes, as text. */
async function everything(): Promise<string[]> {
  const tables = ['face_groups', 'face_spaces', 'face_persons', 'face_templates', 'face_vectors', 'face_vacuums_due']
  const rows = await Promise.all(
    tables.map((name) => harness.database.query(`select '${name} ' || t::text as line from ${name} t`)),
  )
  return rows.flatMap((result) => result.rows.map(({ line }) => line)).sort()
}

interface Fault {
  table: string
  /** How many inserts fail before one works. */
  times: number
  /** SQL that comes first. */
  before?: string
}

/** Runs work while inserts into a table fail; returns how many were tried. */
async function failing<T>({ table, times, before = '' }: Fault, work: () => Promise<T>): Promise<[T, tried: number]> {
  const { query } = harness.database
  // A sequence counts them: it is not rolled back with the failure.
  await query('create sequence faults')
  await query(
    `create function fail() returns trigger language plpgsql as $$ begin
       ${before}
       if nextval('faults') <= ${times} then raise exception 'planted'; end if;
       return new;
     end $$`,
  )
  await query(`create trigger fail before insert on ${table} for each row execute function fail()`)
  try {
    const result = await work()
    const { rows } = await query('select case when is_called then last_value else 0 end::int as count from faults')
    return [result, rows[0].count]
  } finally {
    await query(`drop trigger fail on ${table}`)
    await query('drop function fail')
    await query('drop sequence faults')
  }
}

/** A connection of its own, which holds its locks until it is ended. */
async function connect(statements: string): Promise<pg.Client> {
  const connection = new pg.Client(harness.database.url)
  await connection.connect()
  await connection.query(statements)
  return connection
}

/** Runs work while a table is renamed away. */
async function without<T>(table: string, work: () => Promise<T>): Promise<T> {
  await harness.database.query(`alter table ${table} rename to away`)
  try {
    return await work()
  } finally {
    await harness.database.query(`alter table away rename to ${table}`)
  }
}

const ALWAYS = 1_000_000

describe('the enrolment job', () => {
  // Early, in the middle and at the end of an attempt.
  for (const table of ['face_persons', 'face_templates', 'face_vectors']) {
    test(`[E-034] [E-035] one that fails twice at ${table} and then works gives a normal reply`, async () => {
      const body = { features: feature(faces.person()) }
      const [{ http, body: reply }, tried] = await failing({ table, times: 2 }, () => client.post('plainEnroll', body))
      const { puid, guid } = reply
      assert.deepEqual([http, reply], [200, { status: 0, statusCode: 200, message: 'Ok', puid, guid, enroll_level: 1 }])
      assert.equal(tried, 3)
      for (const stored of ['face_persons', 'face_templates', 'face_vectors']) {
        const { rowCount } = await harness.database.query(`select 1 from ${stored} where person_id = $1`, [puid])
        assert.equal(rowCount, 1, stored)
      }
      assert.equal((await client.post('plainPredict', body)).body.puid, puid)
    })

    test(`[E-035] [E-058] [E-062] one that always fails at ${table} is tried 3 times and leaves nothing`, async () => {
      const before = await everything()
      const features = feature(faces.person())
      const body = { features, metadata: { id: `never at ${table}` } }
      const [reply, tried] = await failing({ table, times: ALWAYS }, () => call('plainEnroll', body))
      assert.deepEqual([reply, tried], [ENROLMENT_FAILED, 3])
      assert.deepEqual(await everything(), before)
      assert.equal((await client.post('plainPredict', { features })).body.message, 'User not enrolled')
      assert.equal((await client.post('plainEnroll', body)).body.message, 'Ok', 'it can be enrolled again')
    })
  }

  test('[E-034] [E-035] [E-058] the encrypted endpoint does the same', async () => {
    const send = async (face: number[]) =>
      client.post('FACE3_1/enroll', { features: await client.sealed('enroll', [face, faces.sample(face)]) })
    const table = 'face_persons'
    const [once, triedTwice] = await failing({ table, times: 1 }, () => send(faces.person('FACE3_1')))
    const { puid, guid } = once.body
    assert.deepEqual([once.http, once.body], [200, { status: 0, message: 'Ok', enroll_level: 1, puid, guid, score: 1 }])
    assert.equal(triedTwice, 2)
    const before = await everything()
    const [always, tried] = await failing({ table, times: ALWAYS }, () => send(faces.person('FACE3_1')))
    assert.deepEqual([[always.http, always.body], tried], [ENROLMENT_FAILED, 3])
    assert.deepEqual(await everything(), before)
  })

  test('the very first enrolment of a tenant is retried too, where its group is made', async () => {
    const newcomer = createClient(harness, (await harness.tenantWithKey({ scopes: ['node:*'] })).key)
    const enrol = () => newcomer.post('plainEnroll', { features: feature(faces.person()) })
    const [{ http, body }, tried] = await failing({ table: 'face_groups', times: 2 }, enrol)
    assert.deepEqual([http, body.message, tried], [200, 'Ok', 3])
  })

  test('[E-035] a refusal is not tried again', async () => {
    const failures = () => harness.logged().split('"msg":"enrolment attempt failed"').length - 1
    const [before, metadata] = [failures(), { id: 'taken' }]
    assert.ok(before > 0, 'failed attempts of the tests above were logged')
    assert.equal((await client.post('plainEnroll', { features: feature(faces.person()), metadata })).http, 200)
    const message = 'Face enrollment failed: metadata.id is bound to another face'
    const second = await call('plainEnroll', { features: feature(faces.person()), metadata })
    assert.deepEqual([second, failures()], [[400, { status: 152, message }], before])
  })

  test('one that took ten seconds is not tried again', async () => {
    const before = await everything()
    const gate = await connect('select pg_advisory_lock(1)')
    const fault = { table: 'face_persons', times: ALWAYS, before: 'perform pg_advisory_xact_lock(1);' }
    const [reply, tried] = await failing(fault, async () => {
      const pending = call('plainEnroll', { features: feature(faces.person()) })
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
      await eventually(async () => (await gate.query(waiting)).rowCount !== 0, 'it waits')
      harness.clock.advance(9_900)
      await gate.end()
      return pending
    })
    assert.deepEqual([reply, tried], [ENROLMENT_FAILED, 1])
    assert.deepEqual(await everything(), before)
  })

  test('[E-030] five enrolments of one face at once create one user, reported as new once', async () => {
    const COUNT = /^ostiary_node_search_seconds_count\{purpose="enroll",kind="exact"\} (\d+)$/m
    const searches = async () => Number(COUNT.exec(await harness.wire.platform.metrics.text())?.[1])
    const before = await searches()
    // The lock keeps the face from being added before all five have searched for it without success.
    const gate = await connect('begin; select 1 from face_spaces for update')
    const features = feature(faces.person())
    const pending = Promise.all(Array.from({ length: 5 }, () => client.post('plainEnroll', { features })))
    await eventually(async () => (await searches()) >= before + 5, 'all five have searched')
    await gate.end()
    const replies = (await pending).map(({ body }) => body).sort((a, b) => a.message.localeCompare(b.message))
    const { puid, guid } = replies[0]
    const reply = (message: string) => ({ status: 0, statusCode: 200, message, puid, guid, enroll_level: 1 })
    assert.deepEqual(replies, [reply('Ok'), ...Array.from({ length: 4 }, () => reply('User Already Enrolled'))])
  })
})

describe('a fault of the store is never a success', () => {
  test('[E-059] [E-062] a prediction that cannot be carried out is answered 500 with 153', async () => {
    const [face, small] = [faces.person(), faces.person('FACE3_1')]
    const { puid } = (await client.post('plainEnroll', { features: feature(face) })).body
    await client.post('enroll', { features: await client.sealed('enroll', [small]) })
    const plain = { features: feature(face) }
    const sealed = async (more = {}) => ({ features: await client.sealed('predict', [small]), ...more })
    await without('face_spaces', async () => {
      assert.deepEqual(await call('plainPredict', plain), PREDICTION_FAILED)
      assert.deepEqual(await call('plainPredict', { ...plain, K: 5 }), PREDICTION_FAILED)
      assert.deepEqual(await call('plainPredict', { ...plain, user_identifier: puid }), PREDICTION_FAILED)
      assert.deepEqual(await call('FACE3_1/predict', await sealed()), PREDICTION_FAILED)
      assert.deepEqual(await call('FACE3_1/predict', await sealed({ K: 2 })), PREDICTION_FAILED)
    })
    await without('face_persons', async () => {
      assert.deepEqual(await call('plainPredict', { ...plain, user_identifier: puid }), PREDICTION_FAILED)
    })
    assert.equal((await client.post('plainPredict', plain)).body.puid, puid, 'works again')
    assert.equal((await client.post('FACE3_1/predict', await sealed())).body.status, 0)
  })

  test('[E-059] [E-062] so is the first one of a tenant, whose group cannot be read', async () => {
    const newcomer = createClient(harness, (await harness.tenantWithKey({ scopes: ['node:*'] })).key)
    await without('face_groups', async () => {
      const { http, body } = await newcomer.post('plainPredict', { features: feature(faces.person()) })
      assert.deepEqual([http, body], PREDICTION_FAILED)
      const enrolled = await newcomer.post('plainEnroll', { features: feature(faces.person()) })
      assert.deepEqual([enrolled.http, enrolled.body], ENROLMENT_FAILED)
    })
  })

  test('[O1] with a store that is away, enrolment and prediction answer 503, their own status and Retry-After', async () => {
    const away = await createHarness()
    const { post } = createClient(away, (await away.tenantWithKey({ scopes: ['node:*'] })).key)
    const features = feature(faces.person())
    await post('plainEnroll', { features })
    await away.wire.close()
    for (const [path, status] of Object.entries({ plainEnroll: 152, plainPredict: 153 })) {
      const { http, body, headers } = await post(path, { features })
      assert.deepEqual([http, body.status, headers['retry-after']], [503, status, '2'], path)
    }
  })

  test('[E-062] a deletion that cannot be carried out is answered 500 with 500, and deletes nothing', async () => {
    const face = faces.person('FACE3_1')
    const { puid } = (await client.post('enroll', { features: await client.sealed('enroll', [face]) })).body
    const before = await everything()
    for (const table of ['face_spaces', 'face_persons', 'face_templates', 'face_vacuums_due']) {
      assert.deepEqual(await without(table, () => call('deleteUser', { puid })), SERVER_FAULT, table)
    }
    assert.deepEqual(await everything(), before)
    assert.deepEqual(await call('deleteUser', { puid }), [200, { status: 200, message: 'delete successful' }])
  })

  test('[E-041] a person whose search copy is lost can be deleted all the same, and the log says so', async () => {
    const face = faces.person('FACE3_1')
    const { puid } = (await client.post('enroll', { features: await client.sealed('enroll', [face]) })).body
    const id = await client.open('puid', puid)
    await harness.database.query('delete from face_vectors where person_id = $1', [id])
    assert.deepEqual(await call('deleteUser', { puid }), [200, { status: 200, message: 'delete successful' }])
    assert.match(harness.logged(), /a search copy lacked vectors: run ostiary node reindex/)
    const left = await harness.database.query('select 1 from face_templates where person_id = $1', [id])
    assert.equal(left.rows.length, 0)
  })

  test('[E-058] [E-059] [E-062] an envelope whose use cannot be recorded is refused: 500 with 152 or 153', async () => {
    const face = faces.person('FACE3_1')
    const before = await everything()
    await without('used_envelopes', async () => {
      const features = (op: 'enroll' | 'predict') => client.sealed(op, [face])
      assert.deepEqual(await call('FACE3_1/enroll', { features: await features('enroll') }), ENROLMENT_FAILED)
      assert.deepEqual(await call('FACE3_1/predict', { features: await features('predict') }), PREDICTION_FAILED)
    })
    assert.deepEqual(await everything(), before)
  })

  test('[E-048] [E-062] a key that cannot be checked gives no access: 500 with 500 on every endpoint', async () => {
    const before = await everything()
    harness.clock.advance(5_001)
    await without('api_keys', async () => {
      const bodies = {
        [CHECK]: {},
        plainEnroll: { features: feature(faces.person()) },
        plainPredict: { features: feature(faces.person()) },
        'FACE3_1/enroll': { features: await client.sealed('enroll', [faces.person('FACE3_1')]) },
        'FACE3_1/predict': { features: await client.sealed('predict', [faces.person('FACE3_1')]) },
        'FACE3_1/deleteUser': { puid: 'x' },
      }
      for (const [path, body] of Object.entries(bodies)) assert.deepEqual(await call(path, body), SERVER_FAULT, path)
    })
    assert.deepEqual(await everything(), before)
  })
})

describe('a request that cannot be read', () => {
  const send = (path: string, payload: string | Buffer, headers: object = {}) =>
    harness.inject({
      method: 'POST',
      url: `/node/${path}`,
      payload,
      headers: { 'x-api-key': client.key, 'content-type': 'application/json', ...headers },
    })
  function assertReply(response: LightMyRequestResponse, http: number, body: object): void {
    assert.deepEqual([response.statusCode, response.json()], [http, body])
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }

  test('[E-048] [E-057] [E-060] a body that is not JSON is answered 400 with -2', async () => {
    const bad = ['{', '{"api_key":', "{'features':1}", '{"features":1}x', Buffer.from('{"a":"\xff"}', 'latin1')]
    for (const path of PATHS) {
      for (const payload of bad) {
        assertReply(await send(path, payload), 400, { status: -2, message: 'Invalid JSON' })
      }
    }
  })

  test('[E-057] [E-060] a body that is JSON but not an object is answered 400 with -2', async () => {
    for (const path of PATHS) {
      for (const payload of ['[]', '[{}]', '"text"', '5', 'true']) {
        const body = { status: -2, message: 'Invalid JSON: an object is expected' }
        assertReply(await send(path, payload), 400, body)
      }
    }
  })

  test('[E-049] [E-051] [E-054] no body at all is answered as one without fields', async () => {
    const replies = {
      [CHECK]: [200, 0, 'API Key is valid'],
      plainEnroll: [400, -2, 'Enrollment Failed Features not provided.'],
      plainPredict: [400, -2, 'Prediction Failed Features not provided.'],
      'FACE3_1/enroll': [400, -2, 'Enrollment Failed Features not provided.'],
      'FACE3_1/predict': [400, -2, 'Prediction Failed Features not provided.'],
      'FACE3_1/deleteUser': [500, -2, 'Missing PUID.'],
    } as const
    for (const path of PATHS) {
      const [http, status, message] = replies[path]
      const bare = { method: 'POST', url: `/node/${path}`, headers: { 'x-api-key': client.key } } as const
      assertReply(await harness.inject(bare), http, { status, message })
      assertReply(await send(path, ''), http, { status, message })
      assertReply(await send(path, 'null'), http, { status, message })
      const keyless = { method: 'POST', url: `/node/${path}` } as const
      assertReply(await harness.inject(keyless), 400, { status: -1, message: 'Missing api key' })
    }
  })

  test('429 for a key whose searches have used up its processor time, until it is paid back; another key goes on', async () => {
    const { key, record, tenantId } = await harness.tenantWithKey({ scopes: ['node:*'], usagePlanId: 'standard' })
    const { processorTimeOf } = harness.wire.platform
    processorTimeOf('node-search', { keyId: record.id, rateFactor: 1 }).spend(20_000)
    const busy = createClient(harness, key)
    for (const path of ['plainPredict', 'plainEnroll']) {
      const { http, body, headers } = await busy.post(path, { features: feature(faces.person()) })
      assert.deepEqual([http, body.status, headers['retry-after']], [429, -1, '30'], path)
    }
    const other = await harness.wire.keys.service.createKey(tenantId, {
      ...{ livemode: false, name: 'other', scopes: ['node:*'], allowedIps: [], usagePlanId: 'standard' },
    })
    const predict = (apiKey: string) =>
      createClient(harness, apiKey).post('plainPredict', { features: feature(faces.person()) })
    assert.equal((await predict(other.api_key)).http, 200)
    harness.clock.advance(30_000)
    assert.equal((await predict(key)).http, 200)
  })

  test('[U2] 429 after the search that uses up the processor time of its key, on every route that searches', async () => {
    const search = {
      plainPredict: (busy: Client) => busy.post('plainPredict', { features: feature(faces.person()) }),
      plainEnroll: (busy: Client) => busy.post('plainEnroll', { features: feature(faces.person()) }),
      predict: async (busy: Client) =>
        busy.post('predict', { features: await busy.sealed('predict', [faces.person('FACE3_1')]) }),
      enroll: async (busy: Client) =>
        busy.post('enroll', { features: await busy.sealed('enroll', [faces.person('FACE3_1')]) }),
    }
    for (const [path, send] of Object.entries(search)) {
      const { key, record } = await harness.tenantWithKey({ scopes: ['node:*'], usagePlanId: 'standard' })
      const busy = createClient(harness, key)
      assert.equal((await busy.post('plainEnroll', { features: feature(faces.person()) })).http, 200)
      const { cores, burstSeconds } = PROCESSOR_BUDGETS['node-search']
      const { limiter, clock, processorTimeOf } = harness.wire.platform
      const owedMs = limiter.owed(`node-search/${record.id}`, clock.monotonicMs())
      processorTimeOf('node-search', { keyId: record.id, rateFactor: 1 }).spend((burstSeconds * 1000 - owedMs) * cores)
      assert.equal((await send(busy)).http, 200, `${path}: the last one that the budget allows`)
      const { http, headers } = await send(busy)
      assert.deepEqual([http, headers['retry-after']], [429, '1'], path)
    }
  })

  test('[E-048] bodies beyond 1 MB are answered 413, other types 415', async () => {
    const sized = (bytes: number) => `{"features":"${'x'.repeat(bytes - 15)}"}`
    for (const path of PATHS) {
      const large = await send(path, sized(1024 * 1024 + 1))
      assertReply(large, 413, { status: 400, message: 'The body is too large' })
      for (const headers of [
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/x-www-form-urlencoded' },
        { 'content-type': 'application/json; charset=latin1' },
        { 'content-encoding': 'gzip' },
      ]) {
        const body = { status: 400, message: 'The body must be application/json in UTF-8' }
        assertReply(await send(path, '{}', headers), 415, body)
      }
    }
    const largest = await send('plainEnroll', sized(1024 * 1024))
    assertReply(largest, 400, { status: -2, message: 'Features are not valid: a Feature is an object' })
  })
})
