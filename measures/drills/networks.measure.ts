/**
 * Two API processes on one PostgreSQL, and a stranger who has a whole IPv6 /48 (by X-Forwarded-For of a trusted proxy). For each limit that
 * matters for security: how many failures are let through, as a multiple of one address's allowance in the same time. At most 1.2.
 * --full: the attack on each limit five times, from five networks.
 */
import { randomBytes } from 'node:crypto'
import { FAILURE_LIMITS, type FailureLimitName, LOCKOUT } from '@ostiary/contract'
import { formatApiKey } from '@ostiary/crypto'
import { DeviceError } from '@ostiary/device'
import { withServices } from '@ostiary/server/operate'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { predictBody } from '@ostiary/testkit/measuring/node-bench'
import { type Started, startApi, startServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import pg from 'pg'
import { inParallel } from './enrols.ts'
import { newDevice, reachCapture } from './stranger-devices.ts'

const MOST = 1.2
/** Of a tenant of its own, so that the drill can use it up. */
const BUDGET = 10
const people = createPeople(14)
let strangers = 0
const newFace = () => people.sample(++strangers, 0)

interface Host {
  tenantId: string
  key: string
}

interface Drill {
  apis: readonly Started[]
  host: Host
  budgeted: Host
  say(text: string): void
}

/** Makes one failure at this process, from this address. True if it is answered as a failure and not refused by the limit. */
type Fail = (api: Started, address: string, n: number) => Promise<boolean>

export const measure: Measure = async ({ full, say }) => {
  const database = await createDatabase(startServices(), 'drill')
  const env = { ...testSettings(database.url), TRUST_PROXY: '127.0.0.1', OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' }
  const apis = await startBoth(env)
  try {
    const [host, budgeted] = await createHosts(env)
    if (!host || !budgeted) throw new Error('No hosts')
    const drill = { apis, host, budgeted, say }
    const figures = [await countRows(drill, database.url)]
    const rounds = full ? 5 : 1
    for (const [limit, fail] of Object.entries(await networkAttacks(drill)))
      figures.push(...(await attackNetwork(drill, limit as FailureLimitName, { fail, rounds })))
    figures.push(...(await attackSignIns(drill, rounds)))
    figures.push(await attackNode(drill))
    figures.push(await useUpBudget(drill))
    return figures
  } finally {
    await Promise.all(apis.map((api) => api.stop('SIGKILL')))
    await database.drop()
  }
}

async function startBoth(env: Record<string, string>): Promise<Started[]> {
  const starts = await Promise.allSettled([1, 2].map((n) => startApi({ env, logName: `drill-networks-${n}` })))
  const apis = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const failed = starts.find((start) => start.status === 'rejected')
  if (!failed) return apis
  await Promise.all(apis.map((api) => api.stop('SIGKILL')))
  throw failed.reason
}

async function createHosts(env: Record<string, string>): Promise<Host[]> {
  return withServices(env, async ({ keys, settings }) => {
    const hosts: Host[] = []
    for (const name of ['Many networks', 'Small budget']) {
      const { tenantId } = await keys.createTenant(name)
      const scopes = ['verify:write', 'verify:read', 'node:*', 'strings:rw'] as const
      const wanted = { livemode: false, name, scopes: [...scopes], allowedIps: [], usagePlanId: 'unmetered' as const }
      hosts.push({ tenantId, key: (await keys.createKey(tenantId, wanted)).api_key })
    }
    await settings.set(hosts[1]?.tenantId ?? '', { failedComparisonsPerHour: BUDGET })
    return hosts
  })
}

/** An ordinary request writes no row for any limit. */
async function countRows({ apis, host, say }: Drill, url: string): Promise<Figure> {
  const headers = { 'x-api-key': host.key }
  await inParallel(200, 8, async (n) => {
    const reply = await fetch(`${apis[n % 2]?.url}/strings`, { headers })
    if (reply.status !== 200) throw new Error(`strings answered ${reply.status}`)
  })
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ count: number }>('select count(*)::int as count from failure_limits')
  await client.end()
  const value = rows[0]?.count ?? -1
  say(`200 requests with a good key left ${value} rows`)
  return { name: 'networks.rows-by-good-requests', value, floor: 0, is: 'most' }
}

/** What a stranger does to each limit that is counted against networks. */
async function networkAttacks({ apis, host }: Drill): Promise<Partial<Record<FailureLimitName, Fail>>> {
  const statusOf = async (api: Started, path: string, init: RequestInit & { headers: Record<string, string> }) => {
    const { status } = await fetch(`${api.url}${path}`, init)
    if (![401, 403, 429].includes(status)) throw new Error(`${path} answered ${status}`)
    return status
  }
  // A session bears a call a second: each has a few of the guesses.
  const sessions = await Promise.all(Array.from({ length: 40 }, () => createSession(apis[0], host)))
  return {
    'unknown-keys': async (api, address) => {
      const key = formatApiKey({ livemode: true, bucket: 7 }, randomBytes(32))
      return (await statusOf(api, '/strings', { headers: { 'x-api-key': key, 'x-forwarded-for': address } })) === 401
    },
    'key-checks': async (api, address, n) => {
      const headers = { 'x-api-key': `wrong ${n}`, 'x-forwarded-for': address, 'content-type': 'application/json' }
      return (await statusOf(api, '/node/api-key/checkApiKeyValid', { method: 'POST', headers, body: '{}' })) === 403
    },
    'client-credentials': async (api, address, n) => {
      const authorization = `Basic ${Buffer.from(`nobody:wrong ${n}`).toString('base64')}`
      const headers = { authorization, 'x-forwarded-for': address }
      const body = new URLSearchParams({ grant_type: 'client_credentials' })
      return (await statusOf(api, '/oauth/token', { method: 'POST', headers, body })) === 401
    },
    'handoff-codes': async (api, address, n) => {
      const { device } = await newDevice(api.url, sessions[n % sessions.length] ?? '', address)
      const status = await device.open(`wrong ${n}`).then(
        () => 200,
        (error: unknown) => (error instanceof DeviceError ? error.status : 0),
      )
      if (status !== 409 && status !== 429) throw new Error(`a wrong handoff code was answered ${status}`)
      return status === 409
    },
  }
}

let networks = 0
/** A /48 that was not used yet, and one IPv4 address. */
function newNetwork() {
  networks++
  const prefix = `2001:db8:${networks.toString(16)}`
  return {
    // Each from another /56: only the /48 has something in common.
    address: (n: number) => `${prefix}:${((n % 256) * 256).toString(16)}::${(n + 1).toString(16)}`,
    single: `198.51.100.${networks}`,
  }
}

async function attackNetwork(
  { apis, say }: Drill,
  limit: FailureLimitName,
  { fail, rounds }: { fail: Fail; rounds: number },
): Promise<Figure[]> {
  const { perSecond, burstSeconds } = FAILURE_LIMITS[limit]
  const allowance = perSecond * burstSeconds
  const tries = Math.ceil(allowance * 4)
  /** As a multiple of what one address is allowed in the time that it took. */
  const letThrough = async (at: (n: number) => Started | undefined, addressOf: (n: number) => string) => {
    const startedMs = performance.now()
    let through = 0
    await inParallel(tries, 16, async (n) => {
      const api = at(n)
      if (api && (await fail(api, addressOf(n), n))) through++
    })
    const seconds = (performance.now() - startedMs) / 1000
    return { through, ratio: through / (allowance + perSecond * seconds) }
  }
  let worst = 0
  let single = 0
  for (let round = 0; round < rounds; round++) {
    const network = newNetwork()
    const one = await letThrough(
      () => apis[0],
      () => network.single,
    )
    const many = await letThrough((n) => apis[n % 2], network.address)
    say(`${limit}: of ${tries} tries one address got ${one.through} through, a /48 and two processes ${many.through}`)
    worst = Math.max(worst, many.ratio)
    single = one.through
  }
  return [
    { name: `networks.${limit}-of-one-address`, value: single, floor: allowance, is: 'least' },
    { name: `networks.${limit}-ratio`, value: worst, floor: MOST, is: 'most' },
  ]
}

async function createSession(api: Started | undefined, { key }: Host): Promise<string> {
  const body = {
    type: 'SIGN-IN',
    redirectURL: 'https://shop.example/back',
    callback: { url: 'http://127.0.0.1:9999/' },
  }
  const reply = await fetch(`${api?.url}/v2/verification-session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body),
  })
  if (reply.status !== 201) throw new Error(`A session was answered ${reply.status} ${await reply.text()}`)
  return ((await reply.json()) as { sessionId: string }).sessionId
}

/** Begins a sign-in with a stranger's face. */
async function beginSignIn(api: Started | undefined, host: Host, address: string) {
  const sessionId = await createSession(api, host)
  return reachCapture(await newDevice(api?.url ?? '', sessionId, address), newFace())
}

const FACE_NOT_MATCH = -9
const LOCKED = -35

/** Sign-ins that begin before anybody is locked out, and are all sent at once; then one more. */
async function attackSignIns({ apis, host, say }: Drill, rounds: number): Promise<Figure[]> {
  const compared = async (count: number, addressOf: (n: number) => string, at: (n: number) => Started | undefined) => {
    const submits = await Promise.all(Array.from({ length: count }, (_, n) => beginSignIn(at(n), host, addressOf(n))))
    const answers = await Promise.all(submits.map(async (submit) => (submit ? (await submit())[0] : LOCKED)))
    const unexpected = answers.find((code) => code !== FACE_NOT_MATCH && code !== LOCKED)
    if (unexpected !== undefined) throw new Error(`A sign-in was answered ${unexpected}`)
    return answers.filter((code) => code === FACE_NOT_MATCH).length
  }
  let worst = 0
  let single = 0
  let lockedAfter = 0
  for (let round = 0; round < rounds; round++) {
    const network = newNetwork()
    single = await compared(
      8,
      () => network.single,
      () => apis[0],
    )
    const many = await compared(16, network.address, (n) => apis[n % 2])
    worst = Math.max(worst, many / LOCKOUT.failures)
    const late = await Promise.all(apis.map((api, n) => beginSignIn(api, host, network.address(200 + n))))
    lockedAfter = Math.max(lockedAfter, late.some((submit) => submit !== undefined) ? many + 1 : many)
    say(`sign-in failures: one address ${single}, a /48 and two processes ${many} of 16 at once`)
  }
  return [
    { name: 'networks.sign-in-failures-of-one-address', value: single, floor: LOCKOUT.failures, is: 'least' },
    { name: 'networks.sign-in-failures-ratio', value: worst, floor: MOST, is: 'most' },
    { name: 'networks.failures-until-lockout', value: lockedAfter, floor: LOCKOUT.failures * MOST, is: 'most' },
  ]
}

/** Unrecognised predictions of one key at two processes until one of them raises the alarm. */
async function attackNode({ apis, host, say }: Drill): Promise<Figure> {
  const { perSecond, burstSeconds } = FAILURE_LIMITS['node-misses']
  const allowance = perSecond * burstSeconds
  const headers = { 'content-type': 'application/json', 'x-api-key': host.key }
  const isAlarmed = async () => {
    const texts = await Promise.all(apis.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()))
    return texts.some((text) => text.includes('ostiary_node_probing_alarms_total{'))
  }
  const send = async (count: number) => {
    await inParallel(count, 10, async (n) => {
      const body = predictBody(newFace())
      const reply = await fetch(`${apis[n % 2]?.url}/node/plainPredict`, { method: 'POST', headers, body })
      if (reply.status !== 200) throw new Error(`predict was answered ${reply.status}`)
    })
    return count
  }
  let sent = await send(allowance * 0.9)
  if (await isAlarmed()) throw new Error(`An alarm after ${sent} unrecognised predictions`)
  while (sent < allowance * 2 && !(await isAlarmed())) sent += await send(20)
  say(`node misses: the alarm came after ${sent} unrecognised predictions of one key at two processes`)
  return { name: 'networks.node-misses-ratio', value: sent / allowance, floor: MOST, is: 'most' }
}

/** A network of its own for every try: only the tenant's budget is left. */
async function useUpBudget({ apis, budgeted, say }: Drill): Promise<Figure> {
  let compared = 0
  for (let n = 0; n < BUDGET * 2; n++) {
    const submit = await beginSignIn(apis[n % 2], budgeted, newNetwork().address(1))
    if (!submit || (await submit())[0] === LOCKED) break
    compared++
  }
  say(`budget of ${BUDGET} failed comparisons: ${compared} were made, from ${compared} networks`)
  return { name: 'networks.failed-comparisons-ratio', value: compared / BUDGET, floor: MOST, is: 'most' }
}
