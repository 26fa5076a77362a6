import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { startDatabaseProxy } from '../testing/database-proxy.ts'
import { createTestDatabase, openTestDb } from '../testing/harness.ts'
import { type Db, type Queryable, sql } from './db.ts'

const database = await createTestDatabase()
const db = openTestDb(database)
after(async () => {
  await db.close()
  await database.drop()
})
beforeEach(() =>
  database.query(
    `drop table if exists library; create table library (place int primary key, book text, at timestamptz, cover bytea)`,
  ),
)

const PUT = sql('library.put', 'insert into library values ($1, $2, $3, $4)')
const LOOK = sql(
  'library.look',
  'select place, book, at, cover, xmin::text as writer from library where place >= $1 order by place',
)
const RENAME = sql('library.rename', 'update library set book = $2 where place = $1')
const NOON = new Date('2026-11-18T12:00:00.123Z')
/** pg cannot write it, so PostgreSQL never sees a statement that has it. */
const UNSENDABLE: { self?: unknown } = {}
UNSENDABLE.self = UNSENDABLE
const books = [
  [1, 'Doors', NOON, Buffer.from([0, 255])],
  [2, 'Gates', null, null],
  [3, 'Locks', NOON, Buffer.alloc(0)],
]

describe('a statement', () => {
  const same = sql(
    'library.same',
    `select $1::text as text, $2::int as number, $3::bool as yes, $4::timestamptz as time, $5::bytea as bytes, $6::text[] as texts,
       $7::timestamptz[] as times, $8::bytea[] as parts, $9::jsonb as facts, $10::int as nothing`,
  )
  test('sends and reads values of every kind, the first time and later', async () => {
    const values = {
      text: 'Grüße "\\ 🚪',
      number: -7,
      yes: false,
      time: NOON,
      bytes: Buffer.from([0, 1, 255]),
      texts: ['a"b', 'c\\d', 'NULL', null, '', '🚪,{}'],
      times: [NOON, null],
      parts: [Buffer.from([0, 255]), Buffer.alloc(0), null],
      facts: { deep: [1, { text: 'x' }] },
      nothing: null,
    }
    for (const turn of ['prepared', 'known'])
      assert.deepEqual(await db.rows(same, Object.values(values)), [values], turn)
    const far = ['0000-01-01T00:00:00Z', '-000043-03-15T00:00:00Z', '+010889-08-02T05:31:50.655Z'].map(
      (text) => new Date(text),
    )
    const times = sql('library.far', 'select extract(epoch from unnest($1::timestamptz[]))::float8 as seconds')
    assert.deepEqual(
      await db.rows(times, [far]),
      far.map((time) => ({ seconds: time.getTime() / 1000 })),
    )
    const long = 'ü'.repeat(70_000)
    assert.deepEqual(await db.rows(same, [long, ...Object.values(values).slice(1)]), [{ ...values, text: long }])
    assert.deepEqual(await db.rows(sql('library.typed', 'select $1::bytea as bytes'), [new Uint8Array([7])]), [
      { bytes: Buffer.from([7]) },
    ])
  })

  test('reads times of any precision and offset', async () => {
    const times = ['2026-11-18 12:00:00.1+00', '2026-11-18 12:00:00+00', '0044-03-15 00:00:00+00 BC', 'infinity']
    const read = sql('library.times', 'select $1::timestamptz as time')
    const [tenth, whole, past, never] = await Promise.all(
      times.map(async (time) => (await db.rows<{ time: Date | number }>(read, [time]))[0]?.time),
    )
    assert.deepEqual([tenth, whole], [new Date('2026-11-18T12:00:00.100Z'), new Date('2026-11-18T12:00:00Z')])
    assert.ok(past instanceof Date && past.getUTCFullYear() === -43)
    assert.equal(never, Number.POSITIVE_INFINITY)
    await db.transaction(async (tx) => {
      await tx.run(sql('', `set local time zone 'Asia/Kolkata'`))
      assert.deepEqual(await tx.rows(read, [NOON]), [{ time: NOON }])
    })
  })

  test('with a name that another one has is refused', async () => {
    await db.rows(sql('library.one', 'select 1 as one'))
    await assert.rejects(
      Promise.all(Array.from({ length: 30 }, () => db.rows(sql('library.one', 'select 2 as one')))),
      /must be unique/,
    )
  })

  test('that fails when it is prepared can be prepared later', async () => {
    const later = sql('library.later', 'select book from later_library where place = $1')
    const find = () => db.transaction((tx) => tx.rows(later, [1]))
    for (let turn = 0; turn < 12; turn++) await assert.rejects(find, { code: '42P01', statement: 'library.later' })
    await database.query(`create table later_library as select 1 as place, 'Doors' as book`)
    for (let turn = 0; turn < 12; turn++) assert.deepEqual(await find(), [{ book: 'Doors' }])
    await database.query('drop table later_library')
  })
})

describe('a transaction', () => {
  test('ends whole, and needs no statement', async () => {
    const id = sql('library.transaction', 'select pg_current_xact_id()::text as id')
    for (let turn = 0; turn < 12; turn++) {
      const ids = await db.transaction(async (tx) => [...(await tx.rows(id)), ...(await tx.rows(id))])
      assert.deepEqual(ids[0], ids[1], 'both statements are in one transaction')
      await assert.rejects(
        db.transaction(async (tx) => {
          await tx.run(PUT, books[0])
          throw new Error('changed its mind')
        }),
        /changed its mind/,
      )
      // The first statement fails: nothing that follows may count.
      await assert.rejects(
        db.transaction(async (tx) => {
          await tx.run(PUT, ['no number', null, null, null]).catch(() => {})
          await tx.run(PUT, books[1]).catch(() => {})
        }),
        /rolled back/,
      )
      await Promise.all([
        db.transaction((tx) => Promise.all([tx.rows(LOOK, [0]), tx.rows(id)])),
        db.transaction(async () => 'nothing to do'),
      ])
    }
    assert.deepEqual(await db.rows(LOOK, [0]), [])
  })
})

describe('statements of a transaction that are given together', () => {
  const together = (tx: Queryable, numbers: readonly number[]) =>
    Promise.all(
      numbers.map((number) => tx.rows(sql(`library.${number}`, `select 6 / $1::int as part, ${number}`), [number])),
    )

  test('run in their order and answer each its own', async () => {
    const answers = await db.transaction(async (tx) => {
      const [, count, rows] = await Promise.all([tx.run(PUT, books[0]), tx.run(PUT, books[1]), tx.rows(LOOK, [0])])
      return [count, rows.length, ...(await together(tx, [1, 2, 3]))]
    })
    assert.deepEqual(answers, [1, 2, ...[6, 3, 2].map((part, at) => [{ part, '?column?': at + 1 }])])
  })

  test('may be the same statement, new to the connection', async () => {
    const same = sql('library.same_twice', 'select $1::int as number')
    const asked = [1, 2, 3]
    const answers = await db.transaction((tx) => Promise.all(asked.map((number) => tx.rows(same, [number]))))
    assert.deepEqual(
      answers.flat(),
      asked.map((number) => ({ number })),
    )
    const unnamed = await db.transaction((tx) =>
      Promise.all([tx.rows(sql('', 'select 1 as one')), tx.rows(sql('', 'select 2 as two'))]),
    )
    assert.deepEqual(unnamed, [[{ one: 1 }], [{ two: 2 }]])
    const twins = [sql('library.twin', 'select 1'), sql('library.twin', 'select 2')]
    await assert.rejects(
      db.transaction((tx) => Promise.all(twins.map((twin) => tx.rows(twin)))),
      /must be unique/,
    )
  })

  test('fail with the first that fails, and what follows it can be prepared later', async () => {
    for (let turn = 0; turn < 12; turn++) {
      const failing = db.transaction((tx) => Promise.all([tx.run(PUT, books[0]), together(tx, [4, 0, 5])]))
      await assert.rejects(failing, { code: '22012', statement: 'library.0' })
    }
    assert.deepEqual(await db.rows(LOOK, [0]), [], 'nothing was stored')
    for (let turn = 0; turn < 12; turn++)
      assert.equal((await db.transaction((tx) => together(tx, [5, 4]))).length, 2, 'the connections are usable')
  })

  test('tell why nothing was sent', async () => {
    const unsendable = db.transaction((tx) => tx.run(PUT, [1, UNSENDABLE, null, null]))
    await assert.rejects(unsendable, TypeError)
    const cut = sql('library.cut_inside', 'select pg_terminate_backend(pg_backend_pid())')
    await assert.rejects(
      db.transaction((tx) => tx.rows(cut)),
      { code: 'DEPENDENCY_DOWN' },
    )
  })

  test('count when nobody waited for them, and not when the work failed', async () => {
    let kept: Queryable | undefined
    await db.transaction(async (tx) => {
      kept = tx
      void tx.run(PUT, books[0])
    })
    assert.equal((await db.rows(LOOK, [0])).length, 1)
    await assert.rejects(async () => kept?.run(PUT, books[1]), /is over/)
    const failing = db.transaction(async (tx) => {
      void tx.run(PUT, books[2])
      throw new Error('changed its mind')
    })
    await assert.rejects(failing, /changed its mind/)
    assert.equal((await db.rows(LOOK, [0])).length, 1)
  })
})

describe('a statement that is repeated', () => {
  test('runs once for each list of values, in one transaction, and answers in their order', async () => {
    assert.deepEqual(
      (await db.repeat(PUT, books)).map(({ count }) => count),
      [1, 1, 1],
    )
    const looks = await db.repeat<{ place: number; book: string; at: Date; cover: Buffer; writer: string }>(LOOK, [
      [3],
      [9],
      [1],
    ])
    assert.deepEqual(
      looks.map(({ rows }) => rows.map(({ place }) => place)),
      [[3], [], [1, 2, 3]],
    )
    const [first, second] = looks[2]?.rows ?? []
    assert.deepEqual([first?.at, first?.cover], [NOON, Buffer.from([0, 255])])
    assert.deepEqual([second?.at, second?.cover], [null, null])
    assert.equal(
      new Set(looks.flatMap(({ rows }) => rows.map(({ writer }) => writer))).size,
      1,
      'one transaction wrote all',
    )
  })

  test('counts what each run has changed', async () => {
    await db.repeat(PUT, books)
    const outcomes = await db.repeat(RENAME, [
      [1, 'Bolts'],
      [9, 'Bars'],
      [3, 'Keys'],
    ])
    assert.deepEqual(
      outcomes.map(({ count }) => count),
      [1, 0, 1],
    )
  })

  test('does nothing at all when one run fails, and the connection stays usable', async () => {
    const twice = [books[0] ?? [], books[0] ?? []]
    await assert.rejects(db.repeat(PUT, twice), { code: '23505', statement: 'library.put' })
    assert.equal((await db.repeat(LOOK, [[0]]))[0]?.count, 0)
    await assert.rejects(db.repeat(sql('library.missing', 'select * from no_such_library where place = $1'), [[1]]), {
      code: '42P01',
    })
    assert.deepEqual(
      (await db.repeat(PUT, books)).map(({ count }) => count),
      [1, 1, 1],
    )
  })

  test('refuses values that it cannot send', async () => {
    await assert.rejects(db.repeat(PUT, [books[0] ?? [], [2, UNSENDABLE, null, null]]), TypeError)
    assert.equal((await db.repeat(LOOK, [[0]]))[0]?.count, 0, 'nothing of it was stored')
  })

  test('fails as unavailable when the connection breaks', async () => {
    await db.repeat(PUT, books)
    const cut = sql('library.cut', 'select pg_terminate_backend(pg_backend_pid()), $1::int')
    await assert.rejects(db.repeat(cut, [[1]]), { code: 'DEPENDENCY_DOWN' })
    assert.equal((await db.repeat(LOOK, [[0]]))[0]?.count, 3)
  })
})

describe('an error of the commit, which comes after the last answer', () => {
  const ADD = sql('library.add_room', 'insert into rooms values ($1) returning place')
  beforeEach(() =>
    database.query(
      'drop table if exists rooms; create table rooms (place int unique deferrable initially deferred); insert into rooms values (1)',
    ),
  )
  const rooms = async () => (await database.query('select count(*)::int as count from rooms')).rows[0]?.count

  test('fails a single statement', async () => {
    await assert.rejects(db.rows(ADD, [1]), { code: '23505', statement: 'library.add_room' })
    await assert.rejects(db.run(ADD, [1]), { code: '23505' })
    assert.equal(await rooms(), 1)
  })

  test('fails every run of a statement that is repeated', async () => {
    await assert.rejects(db.repeat(ADD, [[2], [1]]), { code: '23505' })
    assert.equal(await rooms(), 1)
  })

  test('fails a transaction', async () => {
    await assert.rejects(
      db.transaction((tx) => tx.run(ADD, [1])),
      { code: '23505' },
    )
    assert.equal(await rooms(), 1)
    assert.equal(await db.run(ADD, [2]), 1, 'the connection is usable')
  })
})

describe('a transaction is refused', () => {
  /** A database behind a proxy that replaces one statement by another. */
  async function withStatement(from: string, to: string, work: (db: Db) => Promise<void>): Promise<void> {
    const proxy = await startDatabaseProxy(database.url, (chunk) => {
      const at = chunk.indexOf(`\0${from}\0`)
      if (at >= 0) chunk.write(to.padEnd(from.length), at + 1)
    })
    const proxied = openTestDb({ ...database, url: proxy.url })
    await work(proxied)
    await proxied.close()
    proxy.close()
  }
  const put = async (tx: Queryable) => {
    const answers = await Promise.allSettled([tx.run(PUT, books[0]), tx.run(PUT, books[1])])
    return answers.length
  }

  test('when it did not begin, and nothing of it is stored', async () => {
    await withStatement('begin', 'bogus', async (proxied) => {
      await assert.rejects(proxied.transaction(put), { code: '42601', statement: 'transaction.begin' })
    })
    assert.deepEqual(await db.rows(LOOK, [0]), [])
  })

  test('[U7] when one of its statements could not be sent, also if nobody waited for it', async () => {
    const LOSE = sql('library.lose', 'update library set book = $1')
    const lost = (tx: Queryable) => tx.run(LOSE, [UNSENDABLE]).catch(() => {})
    for (const work of [
      async (tx: Queryable) => {
        await tx.run(PUT, books[0])
        await lost(tx)
        await tx.run(PUT, books[1])
      },
      async (tx: Queryable) => {
        await tx.run(PUT, books[0])
        void lost(tx)
      },
    ])
      await assert.rejects(db.transaction(work), /rolled back/)
    assert.deepEqual(await db.rows(LOOK, [0]), [])
  })

  test('when PostgreSQL answers its commit by rolling it back', async () => {
    await withStatement('commit', 'abort', async (proxied) => {
      await assert.rejects(proxied.transaction(put), /rolled back/)
    })
    assert.deepEqual(await db.rows(LOOK, [0]), [])
  })
})

test('a statement that could not be sent can be sent later', async () => {
  for (let turn = 0; turn < 12; turn++) {
    await assert.rejects(db.run(PUT, [100 + turn, UNSENDABLE, null, null]), TypeError)
    await assert.rejects(
      db.transaction((tx) => tx.run(PUT, [100 + turn, UNSENDABLE, null, null])),
      TypeError,
    )
    assert.equal(await db.run(PUT, [turn, 'Doors', null, null]), 1)
  }
})

test('a transaction that PostgreSQL ended because it was idle fails as unavailable', async () => {
  const idle = sql('library.idle', `do $$ begin raise exception using errcode = '25P03'; end $$`)
  await assert.rejects(db.run(idle), { code: 'DEPENDENCY_DOWN' })
})
