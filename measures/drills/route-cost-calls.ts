/** For route-cost: what a host can call, each a few times, with data as large as the limits allow. */
import { LIMITS, RUN_LIMITS, SCOPES, STRING_LIMITS } from '@ostiary/contract'
import { createFaces } from '@ostiary/server/measure'
import type { Scene } from './token-scene.ts'

const TIMES = 15
const REDIRECT = 'https://shop.example/back'
const METADATA = { note: 'x'.repeat(8_000) }
const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const ROWS = Array.from({ length: 2_000 }, (_, n) => `${n},Vardo${n},Quellmar,1961-04-17\n`).join('')
const FILE = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid,firstname,lastname,dob\n${ROWS}\r\n--b--\r\n`
const NOBODY = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'

type Answer = Record<string, unknown>
export type Call = (
  method: string,
  path: string,
  body?: object | string,
  headers?: Record<string, string>,
) => Promise<Answer>

/** A tenant with a test key, whose plan is ten times the standard one. */
export async function newCaller({ api, wire }: Scene) {
  const { tenantId } = await wire.keys.service.createTenant('Route cost')
  await wire.settings.service.set(tenantId, { screeningRunDays: 30, userMayExtend: true })
  const wanted = { livemode: false, name: 'drill', allowedIps: [], usagePlanId: 'plus' } as const
  const key = await wire.keys.service.createKey(tenantId, { ...wanted, scopes: [...SCOPES] })
  const call: Call = async (method, path, body, headers = {}) => {
    const type = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
    const answer = await fetch(path.startsWith('http') ? path : `${api.url}${path}`, {
      method,
      headers: { 'x-api-key': key.api_key, ...type, ...headers },
      ...(body !== undefined && { body: typeof body === 'object' ? JSON.stringify(body) : body }),
    })
    const text = await answer.text()
    return text.startsWith('{') ? (JSON.parse(text) as Answer) : {}
  }
  return { tenantId, key: key.api_key, call }
}
export type RouteCaller = Awaited<ReturnType<typeof newCaller>>

export async function callAsHost(scene: Scene, caller: RouteCaller): Promise<void> {
  for (const part of [
    callStrings,
    callScreening,
    callRuns,
    callAge,
    callVerification,
    callWebhooks,
    callNode,
    callService,
  ])
    await part(caller.call, scene, caller)
}

async function times(work: (n: number) => Promise<unknown>, count = TIMES): Promise<void> {
  for (let n = 0; n < count; n++) await work(n)
}

async function callService(call: Call, { api, wire }: Scene, { tenantId }: RouteCaller): Promise<void> {
  for (const path of [
    '/',
    '/health',
    '/openapi.json',
    '/v2/locales',
    `/.well-known/ostiary-webhook-keys/${tenantId}.json`,
  ])
    await times(() => call('GET', path))
  for (const path of ['/livez', '/readyz']) await times(() => call('GET', `${api.adminUrl}${path}`))
  const { client_id: id, client_secret: secret } = await wire.keys.clients.create(tenantId, {
    ...{ livemode: false, name: 'drill', publicKeys: [] },
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await times(() =>
    call('POST', '/oauth/token', `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`, form),
  )
}

async function callStrings(call: Call): Promise<void> {
  const value = 'x'.repeat(STRING_LIMITS.valueBytes)
  const ids: string[] = []
  await times(async () => ids.push(String((await call('POST', '/strings', { value })).id)), 20)
  await times(() => call('GET', '/strings?limit=200'))
  await times((n) => call('GET', `/strings/${ids[n]}`))
  await times((n) => call('DELETE', `/strings/${ids[n]}`))
}

const PEOPLE = Array.from({ length: 100 }, (_, n) => ({
  id: `${n}`,
  firstname: `Vardo${n}`,
  lastname: 'Quellmar',
  dob: '1961',
}))

async function callScreening(call: Call): Promise<void> {
  await times(() => call('POST', '/v2/open-sanctions/file/demo', FILE, FORM))
  await times(() => call('POST', '/v2/open-sanctions/match/demo', { people: PEOPLE }))
  await times(() => call('GET', '/v2/open-sanctions/datasets'))
  const known = {
    firstname: 'Ana',
    lastname: 'Example',
    dob: '1990-05-04',
    entityId: 'demo-0004',
    reason: 'Passport seen',
  }
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const ids: string[] = []
  await times(async (n) => {
    ids.push(
      String((await call('POST', '/v2/open-sanctions/exceptions', { ...known, recordId: `${n}`, expiresAt })).id),
    )
  })
  await times(() => call('GET', '/v2/open-sanctions/exceptions?limit=200'))
  await times((n) => call('DELETE', `/v2/open-sanctions/exceptions/${ids[n]}`))
}

async function callRuns(call: Call, { atMatcher }: Scene, { tenantId }: RouteCaller): Promise<void> {
  const path = '/v2/open-sanctions/runs'
  const ids: string[] = []
  await times(async (n) => {
    const id = String((await call('POST', path, { dataset: 'demo' })).id)
    ids.push(id)
    await call('POST', `/v2/open-sanctions/file/demo?run=${id}&part=1`, FILE, FORM)
    // As many hits as a run may have, all of them equal in both.
    if (n < 2)
      await atMatcher(
        `insert into screening_hits (tenant_id, livemode, run_id, row_key, entity_key, part, score, facts)
         select $1, false, $2, decode(lpad(to_hex(n), 32, '0'), 'hex'), decode(repeat('00', 16), 'hex'), 1, 9900, decode(repeat('00', 8), 'hex')
         from generate_series(1, $3::int) n on conflict do nothing`,
        [tenantId, id, RUN_LIMITS.hits],
      )
    await call('POST', `${path}/${id}/complete`, { parts: 1 })
  })
  await times(() => call('GET', `${path}?limit=200`))
  await times((n) => call('GET', `${path}/${ids[n]}`))
  await times(() => call('GET', `${path}/${ids[1]}/hits?since=${ids[0]}&limit=1000`))
  await times((n) => call('DELETE', `${path}/${ids[n]}`))
}

const AGE_BODY = { redirectUrl: REDIRECT, ageThreshold: 30, callback: { url: 'http://127.0.0.1:65001/hook' } }

async function callAge(call: Call): Promise<void> {
  const made: { sessionId: string; token: string }[] = []
  await times(
    async () => made.push((await call('POST', '/session', { ...AGE_BODY, metadata: METADATA })) as never),
    150,
  )
  const of = (n: number) => made[n] ?? { sessionId: NOBODY, token: NOBODY }
  await times(() => call('GET', '/sessions?limit=200'))
  await times((n) => call('POST', `/test/sessions/${of(n).sessionId}/outcome`, {}))
  await times((n) => call('GET', `/session/${of(n).token}/result`))
  await times((n) => call('GET', `/session/${of(n).token}`))
  await times((n) => call('POST', `/session/${of(n).token}/confirm`, { code: 'x'.repeat(22) }))
  await times((n) => call('POST', `/session/${of(n + TIMES).token}/cancel`))
  await times((n) => call('DELETE', `/session/${of(n).token}`))
}

async function callVerification(call: Call): Promise<void> {
  const path = '/v2/verification-session'
  const body = { type: 'ENROLL', redirectURL: REDIRECT, callback: AGE_BODY.callback }
  const ids: string[] = []
  await times(async () => ids.push(String((await call('POST', path, body)).sessionId)), 200)
  await times(() => call('GET', `${path}s?limit=200`))
  await times((n) => call('POST', `/test/sessions/${ids[n]}/outcome`, {}))
  for (const end of ['', '/webhook']) await times((n) => call('GET', `${path}/${ids[n]}${end}`))
  await times((n) => call('POST', `${path}/${ids[n]}/confirm`, { code: 'x'.repeat(22) }))
  await times((n) => call('POST', `${path}/${ids[n + TIMES]}/cancel`))
  await times((n) => call('DELETE', `${path}/${ids[n]}`))
  for (const word of ['find', 'clear'])
    await times((n) => call('POST', `/v2/verification-lockout/${word}`, { customerId: `customer-${n}` }))
}

async function callWebhooks(call: Call): Promise<void> {
  const page = await call('GET', '/webhooks/deliveries?limit=200')
  await times(() => call('GET', '/webhooks/deliveries?limit=200'))
  const [first] = (page.items ?? []) as { id?: string }[]
  const id = first?.id ?? NOBODY
  await times(() => call('GET', `/webhooks/deliveries/${id}`))
  await times(() => call('POST', `/webhooks/deliveries/${id}/replay`))
  await times(() => call('POST', '/webhooks/replay', { since: new Date(Date.now() - 3_600_000).toISOString() }))
  await times(() => call('POST', `/test/webhooks/${id}/fail`, { times: 1, status: 500 }))
  await times(() => call('GET', '/events?limit=100'))
  await times(() => call('POST', '/test/clock/advance', { seconds: 60 }))
}

async function callNode(call: Call): Promise<void> {
  const faces = createFaces(5)
  const people = Array.from({ length: 200 }, () => faces.person())
  const body = (at: number) => ({ features: { type: 'face', embedding_vector: people[at] ?? [] } })
  await times((n) => call('POST', '/node/plainEnroll', body(n)), people.length)
  await times((n) => call('POST', '/node/plainPredict', body(n)))
  await times(() => call('POST', '/node/api-key/checkApiKeyValid', {}))
  const sealed = { features: 'x'.repeat(LIMITS.jsonBodyBytes) }
  // An envelope that does not open costs what one that opens costs, but for the search, which plain calls show.
  for (const path of ['enroll', 'predict']) await times(() => call('POST', `/node/FACE3_1/${path}`, sealed))
  await times(() => call('POST', '/node/FACE3_1/deleteUser', { puid: NOBODY }))
}
