import {
  createCipheriv,
  createECDH,
  createHash,
  generateKeyPairSync,
  type JsonWebKey,
  randomBytes,
  sign,
} from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type Figure, median } from '@ostiary/testkit/measuring/figure'
import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import { createClient, createHost, openWire, playDevice } from '@ostiary/testkit/measuring/sessions-load'
import { API_FLAGS, freePorts, type Started, startApi, startProcess, startServices } from '@ostiary/testkit/run'
import { Pool } from 'undici'

/** Sessions that are played at once, on both sides. */
const AT_ONCE = 8
/** The pg library costs more than the code that it replaced, whose limit was 1.5 (docs/decisions/0059-what-we-gave-back.md). */
const API_MOST = 2.5
/** Signed calls of an age check with the face alone are open, consent, challenge and submit: these are between the first and the last. */
const CALLS_BETWEEN = 2

/** What the bare server needs to check a signature and to open a payload. */
export interface BareCall {
  jwk: JsonWebKey
  signed: string
  signature: string
  privateKey: string
  /** The sender's point. */
  epk: string
  iv: string
  content: string
  tag: string
}

export interface Turns {
  warmUp: number
  turns: number
  sessions: number
}

/**
 * What the API needs for a whole session (created, four signed calls, the result read) beside a bare server that answers as many requests of
 * the same size with as many statements, imports the device's key, checks the same signatures, makes a key pair and opens one payload.
 */
export async function compareApi({ warmUp, turns, sessions }: Turns, say: (line: string) => void): Promise<Figure[]> {
  const database = await createDatabase(startServices(), 'bench')
  const settings = { ...testSettings(database.url), TRUST_PROXY: '127.0.0.1', OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' }
  const running: { stop(): Promise<unknown> }[] = []
  try {
    const api = await startApi({ env: settings, logName: 'bench-device-api' })
    running.push(api)
    const bare = await startBare(database.url)
    running.push(bare)
    const wire = openWire(settings)
    const host = await createHost(wire, 'Device')
    // The worker does this; none runs here.
    for (const cell of wire.platform.cells.all()) await wire.sessions.prepare(cell)
    await wire.close()
    const client = createClient(api.url, AT_ONCE)
    const pool = new Pool(bare.url, { connections: AT_ONCE })
    running.push({ stop: () => client.close() }, { stop: () => pool.destroy() })
    let played = 0
    const playOurs = async () => {
      const index = played++
      const callback = { url: 'http://127.0.0.1:39999/webhook' }
      const body = {
        redirectUrl: 'https://host.example/checked',
        ageThreshold: 30,
        callback,
        metadata: { order: index },
      }
      const { sessionId, token } = await client.create(host, body)
      if (!(await playDevice(api.url, sessionId, index))) throw new Error('The device’s flow did not end')
      await client.result(host, token)
    }
    const sides = {
      ours: () => costOf(api.pid, sessions, playOurs),
      bare: () => costOf(bare.pid, sessions, () => playBare(bare.url, pool)),
    }
    await costOf(api.pid, warmUp, playOurs)
    await costOf(bare.pid, warmUp, () => playBare(bare.url, pool))
    const costs = { ours: [] as number[], bare: [] as number[] }
    for (let turn = 0; turn < turns; turn++)
      for (const name of turn % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const))
        costs[name].push(await sides[name]())
    for (const name of ['ours', 'bare'] as const)
      say(`${name}: ${costs[name].map((cost) => cost.toFixed(2)).join(' ')} ms of processor time a session`)
    const value = median(costs.ours.map((cost, turn) => cost / (costs.bare[turn] ?? Number.NaN)))
    return [{ name: 'device.api-cpu', value, floor: API_MOST, is: 'most', load: true }]
  } finally {
    for (const one of running.reverse()) await one.stop()
    await database.drop()
  }
}

/** Milliseconds of processor time of a process for each session. */
async function costOf(pid: number, sessions: number, play: () => Promise<void>): Promise<number> {
  const before = processorMs(pid)
  let left = sessions
  const player = async () => {
    while (left-- > 0) await play()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, player))
  return (processorMs(pid) - before) / sessions
}

async function playBare(url: string, pool: Pool): Promise<void> {
  const { id } = await callBare(pool, 'POST', '/session', { metadata: { order: 'A-1234' } })
  await signedCall(`${url}/open`, { id, says: textOf(180) })
  for (let call = 0; call < CALLS_BETWEEN; call++) await signedCall(`${url}/call`, { id, says: textOf(270) })
  await signedCall(`${url}/submit`, { id, sealed: textOf(1_700) })
  await callBare(pool, 'GET', `/session/${id}/result`)
}
const textOf = (length: number) => 'x'.repeat(length)

/** A device calls by `fetch`, on both sides: it sends more headers than a host. */
async function signedCall(url: string, body: object): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'x-device-proof': textOf(480),
    'x-forwarded-for': '198.51.100.7',
    'user-agent': textOf(90),
  }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`)
  await response.json()
}

async function callBare(pool: Pool, method: 'GET' | 'POST', path: string, body?: object): Promise<{ id: string }> {
  const headers = { 'x-api-key': textOf(60), ...(body && { 'content-type': 'application/json' }) }
  const response = await pool.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) })
  if (response.statusCode > 201) throw new Error(`${path} was answered ${response.statusCode}`)
  return (await response.body.json()) as { id: string }
}

async function startBare(databaseUrl: string): Promise<Started> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const env = {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    CALL: JSON.stringify(makeCall()),
  }
  return startProcess('measures/bench/bare-device.ts', { env, logName: 'bench-device-bare', nodeFlags: API_FLAGS })
}

function makeCall(): BareCall {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signed = randomBytes(200).toString('base64url')
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const [own, sender] = [createECDH('prime256v1'), createECDH('prime256v1')]
  own.generateKeys()
  sender.generateKeys()
  const secret = createHash('sha256').update(sender.computeSecret(own.getPublicKey())).digest()
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', secret, iv)
  const payload = deflateRawSync(JSON.stringify({ numbers: Array.from({ length: 120 }, Math.random) }))
  const content = Buffer.concat([cipher.update(payload.subarray(0)), cipher.final()])
  const text = (bytes: Buffer) => bytes.toString('base64url')
  return {
    jwk: publicKey.export({ format: 'jwk' }),
    signed,
    signature: text(signature),
    privateKey: text(own.getPrivateKey()),
    epk: text(sender.getPublicKey()),
    iv: text(iv),
    content: text(content),
    tag: text(cipher.getAuthTag()),
  }
}
