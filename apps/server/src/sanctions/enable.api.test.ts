/** Public lists from a web server: the command as a process of its own, the worker's job, and the API that serves them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { Dataset } from '@ostiary/contract'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createCertificate } from '../platform/outbound/testing/certificate.ts'
import { altCsv, sdnCsv, unXml } from './datasets/testing/lists.ts'
import { createScreening, HEADER } from './testing/screening.ts'

const CLI = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))
const HOUR = 3_600_000

interface Served {
  etag: string
  text: string
  /** The connection ends after half of the file. */
  dies?: boolean
}
const served = new Map<string, Served>()
/** Requests in their order, as in `304 /lists/sdn.csv`. */
const asked: string[] = []
const { key, cert } = createCertificate('lists.example')
const web = createServer({ key, cert }, (request, response) => {
  const file = served.get(request.url ?? '')
  const status = file === undefined ? 404 : request.headers['if-none-match'] === file.etag ? 304 : 200
  asked.push(`${status} ${request.url}`)
  if (file === undefined || status !== 200) return response.writeHead(status).end()
  response.writeHead(200, { etag: file.etag, 'content-length': Buffer.byteLength(file.text) })
  if (!file.dies) return response.end(file.text)
  response.write(file.text.slice(0, file.text.length / 2), () => response.destroy())
})

const folder = temporaryFolder('enable')
const dir = join(folder, 'datasets')
const authority = join(folder, 'authority.pem')
writeFileSync(authority, cert)
setDefaultCACertificates([...getCACertificates('default'), cert])
web.listen(0, '127.0.0.1')
await once(web, 'listening')
const from = `https://127.0.0.1:${(web.address() as AddressInfo).port}/lists/`
const server = await createScreening({ SANCTIONS_DIR: dir, OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' })
after(async () => {
  web.closeAllConnections()
  web.close()
})

function serve(name: string, text: string, more: Partial<Served> = {}): void {
  served.set(`/lists/${name}`, { etag: `"${text.length}"`, text, ...more })
}

function enable(names: string, env: Record<string, string> = {}) {
  const settings = { PATH: process.env.PATH ?? '', SANCTIONS_DIR: dir, OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' }
  const options = { env: { ...settings, NODE_EXTRA_CA_CERTS: authority, ...env }, timeout: 120_000 }
  const args = [CLI, 'datasets', 'enable', ...names.split(' '), '--from', from]
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, args, options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

/** Runs the worker's job, so much later than now. */
async function work(laterMs: number): Promise<number | undefined> {
  const { clock, wire } = server
  clock.advance(Date.now() + laterMs - clock.now().getTime())
  const job = wire.sanctions.jobs.find(({ name }) => name === 'refresh-datasets')
  const [cell] = wire.platform.cells.all()
  assert.ok(job && cell)
  const changed = await job.run(cell.db, clock.now())
  await server.look()
  return changed
}

/** The entries that a person matches, by list. */
async function hits(name: string, dataset = 'sanctions'): Promise<string[]> {
  const [first, last] = name.split(' ')
  const { summary } = await server.screen(`${HEADER}1,${first},${last},\n`, { dataset })
  return summary.matched.records.flatMap(({ matches }) => matches.map((match) => `${match.dataset} ${match.entityId}`))
}

test('lists come over https with one command, and are found at once', async () => {
  assert.equal((await server.send(`${HEADER}1,Vardo,Quellmar,\n`, { dataset: 'us_ofac_sdn' })).statusCode, 404)
  serve('sdn.csv', sdnCsv(10))
  serve('alt.csv', altCsv)
  for (const name of ['add.csv', 'sdn_comments.csv']) serve(name, '')
  serve('consolidated.xml', unXml(3))
  const { code, out, err } = await enable('us_ofac_sdn un')
  assert.equal(code, 0, err)
  assert.ok(out.includes(`source: ${from} sdn.csv, alt.csv, add.csv, sdn_comments.csv\n`), out)
  await server.look()
  assert.deepEqual(await hits('Vardo Quellmar'), ['us_ofac_sdn ofac-1'], 'by the alias, which is in another file')
  assert.deepEqual(await hits('Ilsabet Valshaken'), ['un_sc_sanctions un-7001'])
})

test('an address of your own network is called only if you allow it, and a server without our trust not at all', async () => {
  const refused = await enable('un', { OUTBOUND_ALLOW_NETWORKS: '' })
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /consolidated\.xml: The host has an address that may not be called .*OUTBOUND_ALLOW_NETWORKS/,
  )
  const untrusted = await enable('un', { NODE_EXTRA_CA_CERTS: '' })
  assert.equal(untrusted.code, 1)
  assert.match(untrusted.err, /No trustworthy encrypted connection could be made/)
})

test('the worker asks with the validators of the command, and takes what changed', async () => {
  asked.length = 0
  assert.equal(await work(7 * HOUR), 0)
  assert.deepEqual(asked.toSorted(), [
    '304 /lists/add.csv',
    '304 /lists/alt.csv',
    '304 /lists/consolidated.xml',
    '304 /lists/sdn.csv',
    '304 /lists/sdn_comments.csv',
  ])
  serve('consolidated.xml', unXml(4))
  assert.deepEqual(await hits('Ilsabet Karvolt'), [])
  assert.equal(await work(14 * HOUR), 1)
  assert.deepEqual(await hits('Ilsabet Karvolt'), ['un_sc_sanctions un-7003'])
})

test('a server that dies midway takes only its own list, and neither command nor worker replaces a version', async () => {
  const before = await datasets()
  serve('sdn.csv', sdnCsv(12), { dies: true })
  serve('consolidated.xml', unXml(5))
  const { code, err } = await enable('us_ofac_sdn un')
  assert.equal(code, 1)
  assert.match(
    err,
    /^us_ofac_sdn: not imported\. \S+\/sdn\.csv: The connection could not be made, or broke .* stays in service\.$/m,
  )
  assert.match(err, /ostiary datasets enable us_ofac_sdn --from /)
  await server.look()
  assert.equal((await find('us_ofac_sdn')).version, before.find(({ name }) => name === 'us_ofac_sdn')?.version)
  assert.equal((await find('un_sc_sanctions')).entries, 5, 'the other one got its turn')

  assert.equal(await work(30 * HOUR), 0)
  assert.equal(await work(100 * HOUR), 0)
  assert.deepEqual([(await find('us_ofac_sdn')).stale, (await find('un_sc_sanctions')).stale], [true, false])
  assert.match(server.logged(), /"detail":"us_ofac_sdn: [^"]*sdn\.csv: The connection could not be made, or broke/)
  serve('sdn.csv', sdnCsv(12))
  assert.equal(await work(110 * HOUR), 1)
  assert.deepEqual([(await find('us_ofac_sdn')).stale, (await find('us_ofac_sdn')).entries], [false, 12])
})

async function datasets(): Promise<Dataset[]> {
  const response = await server.inject({ url: '/v2/open-sanctions/datasets' })
  return response.json<{ datasets: Dataset[] }>().datasets
}
const find = async (name: string) => (await datasets()).find((each) => each.name === name) ?? assert.fail(name)
