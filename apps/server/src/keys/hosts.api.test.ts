/** Host names that belong to tenants: binding them, in one cell and in several, and how processes learn of them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { buildApp } from '../app.ts'
import { loadConfig } from '../config.ts'
import { createLog } from '../platform/log.ts'
import { startDatabaseProxy } from '../testing/database-proxy.ts'
import { createHarness, createTestDatabase, migratedTemplate, TEST_MASTER_KEY } from '../testing/harness.ts'
import { createWire, type Wire } from '../wire.ts'

const silent = createLog('silent', { write: () => {} })

const harness = await createHarness({
  PUBLIC_URL: 'https://id.example',
  LAUNCH_URL: 'https://page.example:8443/launch/',
})
const { tenantId: one } = await harness.tenantWithKey()
const { tenantId: two } = await harness.tenantWithKey()

describe('binding a name', () => {
  test('a name is stored in lower case, once; a second tenant cannot take it until it is removed', async () => {
    const { hosts } = harness.wire.keys
    const added = await hosts.add(one, 'Node.Fjord.Example.')
    assert.deepEqual([added.host, added.tenant_id], ['node.fjord.example', one])
    assert.deepEqual(await hosts.add(one, 'node.fjord.example'), added)
    await assert.rejects(hosts.add(two, 'NODE.fjord.example'), /belongs to another tenant/)
    assert.deepEqual([await hosts.list(), await hosts.list(one), await hosts.list(two)], [[added], [added], []])
    await assert.rejects(hosts.remove(two, 'node.fjord.example'), /The tenant has no such host name/)
    await hosts.remove(one, 'node.fjord.EXAMPLE')
    await assert.rejects(hosts.remove(one, 'node.fjord.example'), /The tenant has no such host name/)
    assert.equal((await hosts.add(two, 'node.fjord.example')).tenant_id, two)
    await hosts.remove(two, 'node.fjord.example')
  })

  test('of two tenants that ask for one name at once, one gets it', async () => {
    const { hosts } = harness.wire.keys
    const results = await Promise.allSettled([one, two, one, two].map((id) => hosts.add(id, 'wanted.example')))
    const winners = new Set(
      results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.tenant_id] : [])),
    )
    assert.equal(winners.size, 1)
    const [row] = await hosts.list()
    assert.equal(row?.tenant_id, [...winners][0])
    await hosts.remove(row?.tenant_id ?? '', 'wanted.example')
  })

  test('the installation’s own addresses, addresses and unknown tenants are refused', async () => {
    const { hosts } = harness.wire.keys
    for (const name of ['id.example', 'ID.example.', 'page.example']) {
      await assert.rejects(hosts.add(one, name), /is the address of this installation/)
    }
    await assert.rejects(hosts.add(one, '192.0.2.1'), /must be a name, not an address/)
    await assert.rejects(hosts.add(one, 'node.example:8443'), /must be a DNS host name/)
    for (const id of ['nobody', one.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
      await assert.rejects(hosts.add(id, 'free.example'), /There is no such tenant/)
    }
    assert.deepEqual(await hosts.list(), [])
  })

  test('a tenant has at most twenty', async () => {
    const { hosts } = harness.wire.keys
    for (let i = 1; i <= 20; i++) await hosts.add(one, `n${i}.example`)
    await assert.rejects(hosts.add(one, 'n21.example'), /at most 20/)
    assert.equal((await hosts.add(one, 'n20.example')).host, 'n20.example')
    assert.equal((await hosts.add(two, 'n21.example')).tenant_id, two)
  })
})

describe('how a process learns of names', () => {
  /** Two cells with a wire, and the way to each database. */
  async function createCells() {
    const databases = await Promise.all([1, 2].map(async () => createTestDatabase(await migratedTemplate())))
    const ways = await Promise.all(databases.map(({ url }) => startDatabaseProxy(url)))
    const map = {
      cells: { low: ways[0]?.url, high: ways[1]?.url },
      buckets: { '0-511': 'low', '512-1023': 'high' },
    }
    const env = {
      ...TEST_LIMITS,
      CELLS_FILE: 'cells.json',
      MASTER_KEY: TEST_MASTER_KEY,
      DATABASE_CONNECT_TIMEOUT_MS: '500',
    }
    const config = loadConfig(env, () => JSON.stringify(map))
    const wires: Wire[] = []
    return {
      databases,
      ways,
      process() {
        const wire = createWire(config, { role: 'test', log: silent })
        wires.push(wire)
        return { wire, app: buildApp(wire) }
      },
      async close() {
        for (const wire of wires) await wire.close().catch(() => {})
        for (const way of ways) way.close()
        for (const database of databases) await database.drop()
      },
    }
  }
  const statusAt = async ({ app }: { app: ReturnType<typeof buildApp> }, host: string) =>
    (await app.inject({ url: '/', headers: { host } })).statusCode

  test('every cell has every name: a tenant of another cell cannot take it, and one cell that answers is enough', async (t) => {
    const cells = await createCells()
    t.after(cells.close)
    const { wire } = cells.process()
    const low = await wire.keys.service.createTenant('low', 3)
    const high = await wire.keys.service.createTenant('high', 700)
    await wire.keys.hosts.add(high.tenantId, 'high.example')
    await wire.keys.hosts.add(low.tenantId, 'low.example')
    await assert.rejects(wire.keys.hosts.add(low.tenantId, 'high.example'), /belongs to another tenant/)
    await assert.rejects(wire.keys.hosts.add(high.tenantId, 'low.example'), /belongs to another tenant/)
    for (const { query } of cells.databases) {
      const { rows } = await query('select host, tenant_id from tenant_hosts order by host')
      assert.deepEqual(rows, [
        { host: 'high.example', tenant_id: high.tenantId },
        { host: 'low.example', tenant_id: low.tenantId },
      ])
    }
    cells.ways[1]?.close()
    const started = cells.process()
    assert.deepEqual([await statusAt(started, 'high.example'), await statusAt(started, 'low.example')], [404, 404])
    assert.equal(await statusAt(started, 'other.example'), 200)
  })

  test('a change that was interrupted between the cells holds, and is completed by the next attempt', async (t) => {
    const cells = await createCells()
    t.after(cells.close)
    const { wire } = cells.process()
    const low = await wire.keys.service.createTenant('low', 3)
    await wire.keys.hosts.add(low.tenantId, 'half.example')
    const copies = () =>
      Promise.all(cells.databases.map(async ({ query }) => (await query('select host from tenant_hosts')).rowCount))
    for (const database of cells.databases) {
      await database.query('delete from tenant_hosts')
      assert.equal(await statusAt(cells.process(), 'half.example'), 404, 'the other copy binds it')
      await wire.keys.hosts.add(low.tenantId, 'half.example')
      assert.deepEqual(await copies(), [1, 1])
    }
  })

  test('a name that two cells give to two tenants serves neither, until one is removed', async (t) => {
    const cells = await createCells()
    t.after(cells.close)
    const { wire } = cells.process()
    const low = await wire.keys.service.createTenant('low', 3)
    const high = await wire.keys.service.createTenant('high', 700)
    await wire.keys.hosts.add(low.tenantId, 'both.example')
    await cells.databases[1]?.query('update tenant_hosts set tenant_id = $1', [high.tenantId])
    const started = cells.process()
    assert.equal(await statusAt(started, 'both.example'), 404)
    assert.equal(started.wire.keys.hostMap.tenantOf('both.example'), '')
    await wire.keys.hosts.remove(high.tenantId, 'both.example')
    await started.wire.keys.hostMap.refresh()
    assert.equal(started.wire.keys.hostMap.tenantOf('both.example'), low.tenantId)
  })

  test('while the database is away the last names hold; a process that never read them serves nothing', async (t) => {
    const cells = await createCells()
    t.after(cells.close)
    const running = cells.process()
    const { tenantId } = await running.wire.keys.service.createTenant('low', 3)
    await running.wire.keys.hosts.add(tenantId, 'kept.example')
    await running.wire.keys.hostMap.refresh()
    for (const way of cells.ways) way.close()
    await running.wire.keys.hostMap.refresh()
    assert.equal(await statusAt(running, 'kept.example'), 404)
    const { app } = cells.process()
    await assert.rejects(async () => app.ready())
  })

  test('a running process learns of a new name, and of its end, by itself', async (t) => {
    const harness = await createHarness()
    t.after(() => harness.close())
    const { hostMap, hosts } = harness.wire.keys
    await hostMap.start()
    const { tenantId } = await harness.tenantWithKey()
    const status = async () => (await harness.inject({ url: '/', headers: { host: 'new.example' } })).statusCode
    assert.equal(await status(), 200)
    await hosts.add(tenantId, 'new.example')
    await eventually(async () => (await status()) === 404, 'the name is not bound')
    await hosts.remove(tenantId, 'new.example')
    await eventually(async () => (await status()) === 200, 'the name is still bound')
  })
})
