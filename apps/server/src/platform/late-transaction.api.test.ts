import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { createTestDatabase, openTestDb } from '../testing/harness.ts'
import { type Queryable, sql } from './db.ts'
import { LateTransaction } from './late-transaction.ts'

const database = await createTestDatabase()
const db = openTestDb(database)
after(async () => {
  await db.close()
  await database.drop()
})
beforeEach(() => database.query('drop table if exists notes; create table notes (text text not null)'))

const ADD = sql('notes.add', 'insert into notes values ($1)')
const READ = sql('notes.read', 'select text from notes order by text')
const stored = async () => (await database.query('select text from notes order by text')).rows.map(({ text }) => text)
const begin = (tx: Queryable) => tx.run(ADD, ['begun']).then(() => {})

describe('a late transaction', () => {
  test('takes no connection and stores nothing when no statement comes', async () => {
    const answer = await LateTransaction.run(db, begin, async (tx) => {
      assert.deepEqual(db.stats().total - db.stats().idle, 0)
      return tx.hasBegun
    })
    assert.equal(answer, false)
    assert.deepEqual(await stored(), [])
  })

  test('begins before its first statement and commits when the work is done', async () => {
    const read = await LateTransaction.run(db, begin, async (tx) => {
      await Promise.all([tx.run(ADD, ['first']), tx.run(ADD, ['second'])])
      assert.ok(tx.hasBegun)
      assert.deepEqual(await stored(), [], 'nobody else sees it yet')
      return tx.rows<{ text: string }>(READ)
    })
    assert.deepEqual(read, [{ text: 'begun' }, { text: 'first' }, { text: 'second' }])
    assert.deepEqual(await stored(), ['begun', 'first', 'second'])
  })

  test('rolls back when the work throws, and gives its connection back', async () => {
    const failing = LateTransaction.run(db, begin, async (tx) => {
      await tx.run(ADD, ['lost'])
      throw new TypeError('no')
    })
    await assert.rejects(failing, TypeError)
    assert.deepEqual(await stored(), [])
    assert.equal(await db.run(ADD, ['after']), 1)
  })

  test('fails with the reason when it cannot begin', async () => {
    const refusing = LateTransaction.run(
      db,
      () => Promise.reject(new RangeError('not now')),
      (tx) => tx.run(ADD, ['never']),
    )
    await assert.rejects(refusing, RangeError)
    assert.deepEqual(await stored(), [])
    assert.equal(await db.run(ADD, ['after']), 1)
  })

  test('gives no answer and stores nothing when its beginning fails after the first statements were sent', async () => {
    let answered = false
    const overtaken = async (tx: Queryable) => {
      await tx.rows(READ)
      throw new RangeError('overtaken')
    }
    const refusing = LateTransaction.run(db, overtaken, async (tx) => {
      await Promise.all([tx.run(ADD, ['first']), tx.run(ADD, [null])])
      answered = true
    })
    await assert.rejects(refusing, RangeError)
    assert.equal(answered, false)
    assert.deepEqual(await stored(), [])
    assert.equal(await db.run(ADD, ['after']), 1)
  })

  test('says so when the commit fails', async () => {
    const failing = LateTransaction.run(db, begin, async (tx) => {
      await tx.run(ADD, [null]).catch(() => {})
      return 'done'
    })
    await assert.rejects(failing, /rolled back/)
    assert.deepEqual(await stored(), [])
  })

  test('takes no statement after it was closed', async () => {
    const late = LateTransaction.run(db, begin, async (tx) => {
      tx.close()
      return tx.run(ADD, ['late'])
    })
    await assert.rejects(late, /done already/)
    assert.deepEqual(await stored(), [])
  })
})
