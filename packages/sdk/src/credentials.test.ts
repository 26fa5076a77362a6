import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { createClient, OstiaryError } from './index.ts'

const clientId = 'ostc_test_client'
const clientSecret = 'a secret/with+signs'
const SESSION = '079b6adf-c487-8e40-b939-1119c179a04f'

interface SeenRequest {
  path: string
  headers: Headers
  body: string
}

/** A fake service that issues numbered tokens and accepts those that `accepts` returns true for. */
function service(accepts: (authorization: string | null) => boolean, expiresIn = 600) {
  const seen: SeenRequest[] = []
  let tokens = 0
  const json = (status: number, body: object) => new Response(JSON.stringify(body), { status })
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const path = new URL(request.url).pathname
    seen.push({ path, headers: request.headers, body: await request.text() })
    if (path === '/oauth/token') {
      return json(200, { access_token: `token-${++tokens}`, token_type: 'Bearer', expires_in: expiresIn })
    }
    if (accepts(request.headers.get('authorization'))) return json(200, { sessionId: SESSION })
    return json(401, {
      statusCode: 401,
      message: 'Invalid client credentials',
      code: 'INVALID_CLIENT_CREDENTIALS',
      requestId: 'r',
    })
  }
  return { seen, fetch, paths: () => seen.map(({ path }) => path) }
}

const READ = `/v2/verification-session/${SESSION}`
const baseUrl = 'https://ostiary.example'
const clientOf = (fetch: typeof globalThis.fetch) => createClient({ baseUrl, clientId, clientSecret, fetch })

test('a token is asked for once, with client id and secret and without the API key, and serves all calls of area D', async () => {
  const { seen, fetch, paths } = service(() => true)
  const { verification, age } = clientOf(fetch)
  await Promise.all([verification.get(SESSION), verification.get(SESSION)])
  await verification.create({
    type: 'SIGN-IN',
    redirectURL: 'https://shop.example/',
    callback: { url: 'https://shop.example/hook' },
  })
  assert.deepEqual(paths(), ['/oauth/token', READ, READ, '/v2/verification-session'])
  const [asked, first, , created] = seen
  assert.equal(asked?.headers.get('content-type'), 'application/x-www-form-urlencoded;charset=UTF-8')
  assert.equal(asked?.body, 'grant_type=client_credentials')
  assert.equal(asked?.headers.get('x-api-key'), null)
  const [scheme, text = ''] = asked?.headers.get('authorization')?.split(' ') ?? []
  assert.deepEqual([scheme, atob(text)], ['Basic', 'ostc_test_client:a%20secret%2Fwith%2Bsigns'])
  assert.equal(first?.headers.get('authorization'), 'Bearer token-1')
  assert.match(created?.headers.get('idempotency-key') ?? '', /^[0-9a-f-]{36}$/)
  await age.get('at_x')
  assert.equal(seen.at(-1)?.headers.get('authorization'), null, 'the other areas do not use client credentials')
})

test('a token is replaced shortly before its end', async (t) => {
  t.after(() => mock.timers.reset())
  mock.timers.enable({ apis: ['Date'], now: 1_794_744_000_000 })
  const { fetch, paths, seen } = service(() => true)
  const { verification } = clientOf(fetch)
  await verification.get(SESSION)
  mock.timers.tick(569_000)
  await verification.get(SESSION)
  assert.deepEqual(paths(), ['/oauth/token', READ, READ])
  mock.timers.tick(1_000)
  await Promise.all([verification.get(SESSION), verification.get(SESSION)])
  assert.deepEqual(paths().slice(3), ['/oauth/token', READ, READ])
  assert.equal(seen.at(-1)?.headers.get('authorization'), 'Bearer token-2')
})

test('a token that the service refuses is replaced once, and the same call is sent again', async () => {
  const once = service((authorization) => authorization === 'Bearer token-2')
  assert.equal((await clientOf(once.fetch).verification.cancel(SESSION)).sessionId, SESSION)
  assert.deepEqual(once.paths(), ['/oauth/token', `${READ}/cancel`, '/oauth/token', `${READ}/cancel`])
  const never = service(() => false)
  await assert.rejects(clientOf(never.fetch).verification.get(SESSION), {
    status: 401,
    code: 'INVALID_CLIENT_CREDENTIALS',
    message: 'Invalid client credentials',
  })
  assert.equal(never.paths().length, 4)
})

test('a refusal of the token endpoint is reported in its words, and the next call asks for a token again', async () => {
  let isKnown = false
  const { fetch } = service(() => true)
  const refusing = async (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    isKnown
      ? fetch(input, init)
      : Response.json({ error: 'invalid_client', error_description: 'Unknown client' }, { status: 401 })
  const { verification } = clientOf(refusing)
  await assert.rejects(verification.get(SESSION), { status: 401, code: 'invalid_client', message: 'Unknown client' })
  isKnown = true
  assert.equal((await verification.get(SESSION)).sessionId, SESSION)
})

test('without client credentials no token is requested; an incomplete pair is refused when the client is created', async () => {
  const { fetch, paths, seen } = service(() => true)
  await createClient({ baseUrl, fetch }).verification.webhook(SESSION)
  assert.deepEqual(paths(), [`${READ}/webhook`])
  assert.equal(seen[0]?.headers.get('authorization'), null)
  for (const half of [{ clientId }, { clientSecret }, { clientId, clientSecret: '' }]) {
    assert.throws(
      () => createClient({ baseUrl, ...half }),
      (error: unknown) => error instanceof OstiaryError && /clientId and a clientSecret/.test(error.message),
    )
  }
})
