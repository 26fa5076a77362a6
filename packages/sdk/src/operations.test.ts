import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS } from '@ostiary/contract'
import { formatApiKey } from '@ostiary/crypto'
import { createClient, fetchedWebhookKeys, type OstiaryClient } from './index.ts'

const callback = { url: 'https://shop.example/hook' }
const redirect = 'https://shop.example/back'
const vector = { type: 'face', embedding_vector: [1] }

const EXCEPTION = {
  recordId: 'a',
  firstname: 'b',
  lastname: 'c',
  dob: '1990-01-01',
  entityId: 'd',
  reason: 'e',
  expiresAt: '2030-01-01',
}

/** One call of each operation that a host makes. An operation without an entry fails the test. */
const CALLS: Record<string, (client: OstiaryClient) => unknown> = {
  describeService: ({ describe }) => describe(),
  getHealth: ({ health }) => health(),
  listLocales: ({ locales }) => locales(),
  createString: ({ strings }) => strings.create({ value: 'x' }),
  listStrings: ({ strings }) => strings.all().next(),
  getString: ({ strings }) => strings.get('x'),
  deleteString: ({ strings }) => strings.delete('x'),
  screenFile: ({ sanctions }) => sanctions.screen({ dataset: 'x', file: 'id' }),
  screenPeople: ({ sanctions }) => sanctions.match({ dataset: 'x', people: [] }),
  listDatasets: ({ sanctions }) => sanctions.datasets(),
  createException: ({ sanctions }) => sanctions.exceptions.create(EXCEPTION),
  listExceptions: ({ sanctions }) => sanctions.exceptions.all().next(),
  deleteException: ({ sanctions }) => sanctions.exceptions.delete('x'),
  createRun: ({ sanctions }) => sanctions.runs.begin({ dataset: 'x' }),
  completeRun: ({ sanctions }) => sanctions.runs.complete('x', { parts: 1 }),
  listRuns: ({ sanctions }) => sanctions.runs.all().next(),
  getRun: ({ sanctions }) => sanctions.runs.get('x'),
  deleteRun: ({ sanctions }) => sanctions.runs.delete('x'),
  listRunHits: ({ sanctions }) => sanctions.runs.hits('x').next(),
  createSession: ({ age }) => age.create({ redirectUrl: redirect, ageThreshold: 30 }),
  getSessionResult: ({ age }) => age.result('x'),
  getSession: ({ age }) => age.get('x'),
  cancelSession: ({ age }) => age.cancel('x'),
  confirmSession: ({ age }) => age.confirm('x', 'y'),
  deleteSession: ({ age }) => age.erase('x'),
  listSessions: ({ age }) => age.all().next(),
  createVerification: ({ verification }) => verification.create({ type: 'ENROLL', redirectURL: redirect, callback }),
  getVerification: ({ verification }) => verification.get('x'),
  getVerificationWebhook: ({ verification }) => verification.webhook('x'),
  cancelVerification: ({ verification }) => verification.cancel('x'),
  confirmVerification: ({ verification }) => verification.confirm('x', 'y'),
  deleteVerification: ({ verification }) => verification.delete('x'),
  listVerifications: ({ verification }) => verification.all().next(),
  findLockout: ({ verification }) => verification.lockout({ customerId: 'x' }),
  clearLockout: ({ verification }) => verification.unlock({ customerId: 'x' }),
  requestToken: ({ verification }) => verification.get('x'),
  listWebhookDeliveries: ({ webhooks }) => webhooks.all().next(),
  getWebhookDelivery: ({ webhooks }) => webhooks.get('x'),
  replayWebhookDelivery: ({ webhooks }) => webhooks.replay('x'),
  replayWebhooks: ({ webhooks }) => webhooks.replaySince(new Date(0)),
  listEvents: ({ events }) => events.list(),
  sandboxOutcome: ({ test: sandbox }) => sandbox.outcome('x'),
  sandboxAdvanceClock: ({ test: sandbox }) => sandbox.advanceClock(1),
  sandboxFailDelivery: ({ test: sandbox }) => sandbox.failDelivery('x', { times: 2 }),
  checkNodeKey: ({ node }) => node.checkKey(),
  nodeEnroll: ({ node }) => node.enroll([vector]),
  nodePredict: ({ node }) => node.predict([vector]),
  nodeDeleteUser: ({ node }) => node.deleteUser({ metadataId: 'x' }),
  nodePlainEnroll: ({ node }) => node.plainEnroll(vector),
  nodePlainPredict: ({ node }) => node.plainPredict(vector),
}

/** What a browser, an orchestrator or a generator calls. */
const isForHosts = (operationId: string) => !/^launch|^getLivez$|^getReadyz$|^getOpenApi$/.test(operationId)

const apiKey = formatApiKey({ livemode: false, bucket: 1 }, new Uint8Array(32).fill(7))

type Use = (client: OstiaryClient, fetch: typeof globalThis.fetch) => unknown

interface Asked {
  /** Method and path. */
  call: string
  query: Record<string, string>
  body: unknown
}

async function callsOf(use: Use): Promise<Asked[]> {
  const calls: Asked[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname, searchParams } = new URL(String(url))
    const body = typeof init?.body === 'string' ? init.body : undefined
    const call = `${init?.method ?? 'GET'} ${pathname}`
    calls.push({ call, query: Object.fromEntries(searchParams), body: body?.startsWith('{') ? JSON.parse(body) : body })
    const isToken = String(url).endsWith('/oauth/token')
    return Response.json(
      isToken ? { access_token: 't', expires_in: 600 } : { items: [], nextCursor: null, continueFrom: null },
    )
  }
  const credentials = { clientId: 'ostc_test_a', clientSecret: 'b' }
  const client = createClient({ baseUrl: 'https://ostiary.example', apiKey, fetch, maxRetries: 0, ...credentials })
  // What the answers mean is not the matter here: the ones above fit no method of area E.
  await Promise.allSettled([use(client, fetch)])
  return calls
}

const patternOf = (method: string, path: string) =>
  new RegExp(`^${method} ${path.replaceAll('.', '\\.').replaceAll(/:[a-zA-Z]+/g, '[^/]+')}$`)

for (const { operationId, method, path } of OPERATIONS.filter((operation) => isForHosts(operation.operationId))) {
  test(`${operationId} has a method`, async () => {
    const readKeys = (_: OstiaryClient, fetch: typeof globalThis.fetch) =>
      fetchedWebhookKeys({ baseUrl: 'https://ostiary.example', tenantId: 'x', fetch }).current()
    const use = operationId === 'getWebhookKeys' ? readKeys : CALLS[operationId]
    assert.ok(use, `no method of the SDK calls ${operationId}: add one, and its line here`)
    const calls = await callsOf(use)
    assert.ok(
      calls.some(({ call }) => patternOf(method, path).test(call)),
      `${method} ${path} is not among ${calls.map(({ call }) => call)}`,
    )
  })
}

test('people are found, freed and deleted by what the host has of them', async () => {
  const uses: Record<string, [Use, Omit<Asked, 'call'>]> = {
    'POST /v2/verification-lockout/find': [
      ({ verification }) => verification.lockout({ puid: 'p 1' }),
      { query: {}, body: { puid: 'p 1' } },
    ],
    'POST /v2/verification-lockout/clear': [
      ({ verification }) => verification.unlock({ customerId: 'c 1' }),
      { query: {}, body: { customerId: 'c 1' } },
    ],
    'GET /v2/verification-sessions': [
      ({ verification }) => verification.list({ transactionID: 'o/7 &', limit: 5 }),
      { query: { transactionID: 'o/7 &', limit: '5' }, body: undefined },
    ],
    'POST /node/FACE3_1/deleteUser': [
      ({ node }) => node.deleteUser({ metadataId: 'c 1' }),
      { query: {}, body: { metadata: { id: 'c 1' } } },
    ],
  }
  for (const [call, [use, asked]] of Object.entries(uses)) {
    assert.deepEqual(
      (await callsOf(use)).filter((one) => one.call === call),
      [{ call, ...asked }],
    )
  }
})
