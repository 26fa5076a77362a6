import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkReplication } from './doctor-replication.ts'
import type { DatabaseFacts } from './platform/database-facts.ts'

const facts = (changes: Partial<DatabaseFacts>): DatabaseFacts => ({
  version: 150_000,
  versionText: '15',
  fsync: 'on',
  synchronousCommit: 'on',
  maxConnections: 100,
  isStandby: false,
  isReadOnly: false,
  standbyNames: '',
  archiveMode: 'off',
  maySeeReplicas: true,
  streaming: 0,
  synchronous: 0,
  archiveFailedAt: null,
  now: new Date(0),
  vector: null,
  vectorAvailable: null,
  ...changes,
})

const CASES: readonly [Partial<DatabaseFacts>, state: string, finding: RegExp][] = [
  [{}, 'ok', /^leader, 0 replicas streaming, commits wait for none$/],
  [{ isStandby: true, isReadOnly: true }, 'failed', /^a standby/],
  [{ isReadOnly: true }, 'failed', /^read-only/],
  [
    { standbyNames: 'ANY 1 (a, b)', streaming: 2, synchronous: 2 },
    'ok',
    /2 replicas streaming, 2 that commits wait for/,
  ],
  [{ standbyNames: 'ANY 1 (a, b)' }, 'failed', /every commit waits for a replica/],
  [{ standbyNames: 'ANY 1 (a, b)', maySeeReplicas: false }, 'ok', /not visible to this role/],
  [{ archiveMode: 'on' }, 'ok', /archived$/],
  [{ archiveMode: 'on', archiveFailedAt: new Date(0) }, 'warning', /archiving failed at 1970-01-01/],
]

for (const [changes, state, finding] of CASES)
  test(`[X5] doctor says ${state}: ${finding.source}`, () => {
    const check = checkReplication('replication', facts(changes))
    assert.equal(check.state, state)
    assert.match(check.finding, finding)
  })
