import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgeFixture } from '../age/testing/fixture.ts'

const fixture = await createAgeFixture()

test('a session that cannot be opened is left out of the list and logged; every other session is listed, on all pages', async () => {
  const host = await fixture.newHost()
  const ids: string[] = []
  for (let n = 0; n < 7; n++) {
    ids.push((await host.create()).sessionId)
    fixture.harness.clock.advance(1_000)
  }
  const damaged = [ids[0], ids[3], ids[4]]
  await fixture.harness.database.query(`update session_secrets set request = '\\x00' where session_id = any($1)`, [
    damaged,
  ])
  const listed: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 10; pages++) {
    const url = `/sessions?limit=2${cursor}`
    const response = await fixture.harness.inject({ url, headers: { 'x-api-key': host.key } })
    assert.equal(response.statusCode, 200, response.body)
    const { items, nextCursor } = response.json()
    listed.push(...items.map(({ sessionId }: { sessionId: string }) => sessionId))
    if (nextCursor === null) break
    cursor = `&cursor=${nextCursor}`
  }
  assert.deepEqual(listed, ids.filter((id) => !damaged.includes(id)).reverse())
  for (const id of damaged) assert.ok(fixture.harness.logged().includes(String(id)))
  assert.match(fixture.harness.logged(), /cannot be opened and is left out of a list/)
})
