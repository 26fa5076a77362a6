import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnreplicated, judgeLogin, judgeStore, SILENCE, type StoreFault, UnreplicatedError } from './outage.ts'

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code })

const CASES: readonly [what: string, error: unknown, fault: StoreFault | undefined][] = [
  ['[O1] a wrong password', coded('28P01'), { outage: 'refused' }],
  ['[O1] a role without login', coded('28000'), { outage: 'refused' }],
  ['[O1] a dropped database', coded('3D000'), { outage: 'refused' }],
  [
    '[O1] a URL without a password',
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password'),
    { outage: 'refused' },
  ],
  [
    '[O1] a login that PgBouncer could not make',
    coded('08P01', 'server login has been failing, cached error: password authentication failed for user "app"'),
    { outage: 'refused' },
  ],
  [
    'a PostgreSQL that is away behind PgBouncer',
    coded('08P01', 'server login has been failing, cached error: connect failed (server_login_retry)'),
    { outage: 'unreachable' },
  ],
  [
    '[O1] a login that pg_hba.conf refuses to PgBouncer',
    coded('08P01', 'server login has been failing, cached error: no pg_hba.conf entry for host "192.0.2.1"'),
    { outage: 'refused' },
  ],
  [
    'a PostgreSQL that starts behind PgBouncer',
    coded('08P01', 'server login has been failing, cached error: the database system is starting up'),
    { outage: 'unreachable' },
  ],
  ['[O2] a standby, or a read-only server', coded('25006'), { outage: 'read-only' }],
  ['[X2] a commit without its replica', new UnreplicatedError(), { outage: 'unreplicated' }],
  ['a full disk', coded('53100'), { outage: 'full' }],
  ['too many connections', coded('53300'), { outage: 'unreachable' }],
  ['a server that starts', coded('57P03'), { outage: 'unreachable' }],
  ['a refused connection', coded('ECONNREFUSED'), { outage: 'unreachable' }],
  ['a host that does not answer a dedicated client', new Error('timeout expired'), { outage: 'unreachable' }],
  ['a busy pool', new Error('timeout exceeded when trying to connect'), { outage: 'unreachable' }],
  ['[U7] a transaction that was idle too long', coded('25P03'), {}],
  ['[U7] a deadlock', coded('40P01'), {}],
  ['[U7] a serialization failure', coded('40001'), {}],
  ['a statement that took too long', coded('57014'), {}],
  ['a statement without an answer', new Error(SILENCE), {}],
  ['a duplicate key', coded('23505'), undefined],
  ['a missing table', coded('42P01'), undefined],
  ['a fault of ours', new TypeError('not a function'), undefined],
  ['no error', 'text', undefined],
]

for (const [what, error, fault] of CASES)
  test(`${what} says ${JSON.stringify(fault)}`, () => assert.deepEqual(judgeStore(error), fault))

test('[O1] whatever the server answers to a login refuses it, and no answer is no refusal', () => {
  assert.deepEqual(judgeLogin(coded('42501')), { outage: 'refused' })
  assert.deepEqual(judgeLogin(coded('57P03')), { outage: 'unreachable' })
  assert.deepEqual(judgeLogin(new Error('socket hang up')), { outage: 'unreachable' })
})

test('[X2] the notice of a cancelled wait is known by its routine in any language, and by its text', () => {
  assert.ok(
    isUnreplicated({ routine: 'SyncRepWaitForLSN', message: 'Warten auf synchrone Replikation wird storniert' }),
  )
  assert.ok(isUnreplicated({ message: 'canceling wait for synchronous replication due to user request' }))
  assert.ok(!isUnreplicated({ routine: 'EndTransactionBlock', message: 'there is no transaction in progress' }))
})
