// spec-kind: webhook, docs
import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { OPERATIONS, VERSION } from '@ostiary/contract'
import { apiKeyHint, signStandardWebhook, signWebhook, standardWebhookSecret } from '@ostiary/crypto'
import { eventually } from '@ostiary/testkit/eventually'
import { freePorts } from '@ostiary/testkit/ports'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createHarness } from '../testing/harness.ts'

/** Runs the receivers that docs/webhooks.md shows as integrators would run them, with deliveries that the product really sends. */
const DOCS = new URL('../../../../docs/', import.meta.url)
const example = (name: string) => fileURLToPath(new URL(`examples/webhooks/${name}`, DOCS))

interface Language {
  name: string
  fence: string
  file: string
  command: string
  args(port: number): string[]
  /** The function that compares in constant time, so that its duration does not show where two texts differ. */
  constantTime: RegExp
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    fence: 'ts',
    file: example('verify.ts'),
    command: process.execPath,
    args: () => [example('verify.ts')],
    constantTime: /\btimingSafeEqual\(expected,/,
  },
  {
    name: 'Python',
    fence: 'python',
    file: example('verify.py'),
    // Debian's own, as in tools/bootstrap.
    command: '/usr/bin/python3',
    args: () => [example('verify.py')],
    constantTime: /\bhmac\.compare_digest\(expected,/,
  },
  {
    name: 'PHP',
    fence: 'php',
    file: example('verify.php'),
    command: '/usr/bin/php',
    args: (port) => ['-S', `127.0.0.1:${port}`, example('verify.php')],
    constantTime: /\bhash_equals\(\$expected,/,
  },
]

interface Captured {
  headers: IncomingHttpHeaders
  body: Buffer
}

interface Receiver {
  url: string
  child: ChildProcessByStdio<null, Readable, null>
  printed(): string
}

const running: Receiver['child'][] = []

const harness = await createHarness({ OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' })
// Receivers use the real clock.
harness.clock.advance(Date.now() - harness.clock.now().getTime())
let { key } = await harness.tenantWithKey({ scopes: ['age:write', 'age:read'] })
const arrived: Captured[] = []
const catcher = createServer(async (request, response) => {
  arrived.push({ headers: request.headers, body: await buffer(request) })
  response.writeHead(204).end()
})
await new Promise<void>((listening) => catcher.listen(0, '127.0.0.1', listening))
const sessionId = await endedSession(`http://127.0.0.1:${(catcher.address() as AddressInfo).port}/hook?tenant=7`)
catcher.closeAllConnections()
catcher.close()
const [first] = arrived
assert.ok(first, 'the product delivered nothing')
/** A delivery of the product, as it arrived. */
const captured = first

after(async () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A session that was created, ended and delivered, all by the product. */
async function endedSession(url: string): Promise<string> {
  const headers = { 'x-api-key': key }
  const payload = {
    redirectUrl: 'https://host.example/done',
    ageThreshold: 30,
    callback: { url, headers: { authorization: 'Bearer host-secret' } },
    // Bytes beyond ASCII, and a text that other JSON serialisers write differently.
    metadata: { order: 'Größe 44 / 🎂', link: 'a/b' },
  }
  const created = await harness.inject({ method: 'POST', url: '/session', headers, payload })
  assert.equal(created.statusCode, 201, created.body)
  const id: string = created.json().sessionId
  const ended = await harness.inject({
    method: 'POST',
    url: `/test/sessions/${id}/outcome`,
    headers,
    payload: { outcome: 'AGE_ABOVE_THRESHOLD' },
  })
  assert.equal(ended.statusCode, 204, ended.body)
  assert.equal(await harness.wire.webhooks.dispatcher.tick(), 1)
  return id
}

async function deliveryOf(id: string) {
  const headers = { 'x-api-key': key }
  const list = await harness.inject({ url: `/webhooks/deliveries?sessionId=${id}`, headers })
  const [{ id: deliveryId }] = list.json().items
  return (await harness.inject({ url: `/webhooks/deliveries/${deliveryId}`, headers })).json()
}

/** Only the environment variables named here reach the receiver. */
async function startReceiver({ command, args }: Language, env: Record<string, string>): Promise<Receiver> {
  const [port = 0] = await freePorts(1)
  const child = spawn(command, args(port), {
    env: { PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  running.push(child)
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const url = `http://127.0.0.1:${port}/hook`
  // The readiness probe has no signature, so the receiver must refuse it.
  const { status } = await eventually(() => {
    assert.equal(child.exitCode, null, `${command} ended`)
    return fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined)
  }, `${command} does not listen`)
  assert.equal(status, 401)
  return { url, child, printed: () => output }
}

interface Sending {
  timestamp?: string
  signature?: string
  body: Buffer
}

async function post(url: string, { timestamp, signature, body }: Sending): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'x-service-event': 'age.session.completed',
    'x-service-delivery': 'test',
    ...(timestamp !== undefined && { 'x-service-timestamp': timestamp }),
    ...(signature !== undefined && { 'x-service-signature': signature }),
  }
  return (await fetch(url, { method: 'POST', headers, body: Uint8Array.from(body) })).status
}

/** As the product sent it. */
function genuine(): Required<Sending> {
  const timestamp = String(captured.headers['x-service-timestamp'])
  return { timestamp, signature: String(captured.headers['x-service-signature']), body: captured.body }
}

/** Signed by the product's own code for another moment. */
async function signedAt(seconds: number): Promise<Sending> {
  const timestamp = String(seconds)
  return { timestamp, signature: await signWebhook(key, timestamp, captured.body), body: captured.body }
}

test('the receivers are tested with a complete delivery: our headers, the host’s headers, and the result as its body', async () => {
  const { id } = await deliveryOf(sessionId)
  const seconds = Math.floor(harness.clock.now().getTime() / 1000)
  const { connection: _, ...headers } = captured.headers
  assert.deepEqual(headers, {
    host: headers.host,
    'content-length': String(captured.body.length),
    'content-type': 'application/json',
    'user-agent': `Ostiary/${VERSION}`,
    authorization: 'Bearer host-secret',
    'x-service-timestamp': String(seconds),
    'x-service-signature': await signWebhook(key, String(seconds), captured.body),
    'x-service-event': 'age.session.completed',
    'x-service-delivery': id,
    'x-service-attempt': '1',
    'x-service-sequence': '1',
    'x-service-key': apiKeyHint(key),
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': headers['webhook-signature'],
  })
  assert.equal(JSON.parse(captured.body.toString()).sessionId, sessionId)
})

for (const language of LANGUAGES) {
  const skip = existsSync(language.command) ? false : `${language.command} is missing: tools/bootstrap installs it`

  describe(`the receiver in ${language.name}`, { skip }, () => {
    let receiver: Receiver
    before(async () => {
      receiver = await startReceiver(language, { OSTIARY_API_KEY: key })
    })

    test(`[C-060] takes a delivery that the product sends to it (${language.name})`, async () => {
      const id = await endedSession(receiver.url)
      const delivery = await deliveryOf(id)
      assert.equal(delivery.state, 'delivered')
      assert.deepEqual(
        delivery.attemptLog.map(({ outcome, status }: { outcome: string; status: number }) => ({ outcome, status })),
        [{ outcome: 'delivered', status: 204 }],
      )
      await eventually(() => receiver.printed() !== '', 'the receiver prints it')
      assert.equal(receiver.printed(), `age.session.completed ${delivery.id} SUCCEEDED AGE_ABOVE_THRESHOLD\n`)
    })

    test(`[C-061] [C-062] recomputes the signature and refuses whatever was changed (${language.name})`, async () => {
      const sent = genuine()
      const { timestamp, signature, body } = sent
      assert.equal(await post(receiver.url, sent), 204)
      const changed = Buffer.from(body)
      changed.writeUInt8(changed.readUInt8(changed.length - 2) ^ 1, changed.length - 2)
      const hex = signature.slice('sha256='.length)
      const otherLast = hex.endsWith('0') ? '1' : '0'
      const forged: Record<string, Sending> = {
        'another body': { ...sent, body: changed },
        'a longer body': { ...sent, body: Buffer.concat([body, Buffer.from(' ')]) },
        'the same JSON, serialised again': {
          ...sent,
          body: Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1)),
        },
        'no body': { ...sent, body: Buffer.alloc(0) },
        'another timestamp': { ...sent, timestamp: String(Number(timestamp) + 1) },
        'the timestamp with a zero before it': { ...sent, timestamp: `0${timestamp}` },
        'a timestamp that is no number': { ...sent, timestamp: `${timestamp}.0` },
        'no timestamp': { signature, body },
        'no signature': { timestamp, body },
        'an empty signature': { ...sent, signature: '' },
        'the prefix alone': { ...sent, signature: 'sha256=' },
        'no prefix': { ...sent, signature: hex },
        'another prefix': { ...sent, signature: `sha1=${hex}` },
        'a signature cut short': { ...sent, signature: signature.slice(0, -1) },
        'a signature with more behind it': { ...sent, signature: `${signature}00` },
        'another last digit': { ...sent, signature: signature.slice(0, -1) + otherLast },
      }
      for (const [what, sending] of Object.entries(forged)) assert.equal(await post(receiver.url, sending), 401, what)
    })

    test(`[C-060] refuses everything when it holds another API key, or none (${language.name})`, async () => {
      const stranger = (await harness.tenantWithKey()).key
      const other = await startReceiver(language, { OSTIARY_API_KEY: stranger })
      assert.equal(await post(other.url, genuine()), 401)
      // Without a key anyone could sign with the empty one.
      const keyless = await startReceiver(language, {})
      const { timestamp, body } = genuine()
      const signature = `sha256=${createHmac('sha256', '').update(`${timestamp}.`).update(body).digest('hex')}`
      assert.equal(await post(keyless.url, { timestamp, signature, body }), 401)
    })

    test(`[C-063] refuses what was signed more than five minutes ago or ahead, and takes it without the window (${language.name})`, async () => {
      const withoutWindow = await startReceiver(language, { OSTIARY_API_KEY: key, TOLERANCE_SECONDS: '0' })
      const expected = new Map([
        [-86_400, 401],
        [-320, 401],
        [-280, 204],
        [280, 204],
        [320, 401],
      ])
      for (const [offset, status] of expected) {
        const sent = await signedAt(Math.floor(Date.now() / 1000) + offset)
        assert.equal(await post(receiver.url, sent), status, `${offset} s`)
        assert.equal(await post(withoutWindow.url, sent), 204, `${offset} s, without the window`)
      }
    })
  })

  test(`[C-062] the documented function in ${language.name} is the one that runs, and compares in constant time`, () => {
    const page = readFileSync(new URL('webhooks.md', DOCS), 'utf8')
    const blocks = [...page.matchAll(new RegExp(`\`\`\`${language.fence}\\b.*\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
      ([, code = '']) => code.trim(),
    )
    const code = readFileSync(language.file, 'utf8')
    const shown = blocks.find((block) => language.constantTime.test(block))
    assert.ok(shown, `docs/webhooks.md shows no constant-time comparison in ${language.name}`)
    assert.ok(code.includes(shown), `docs/webhooks.md and ${language.file} differ`)
  })
}

for (const language of LANGUAGES.filter(({ name }) => name !== 'Python')) {
  const skip = existsSync(language.command) ? false : `${language.command} is missing: tools/bootstrap installs it`

  test(`the receiver in ${language.name} demands the key pair’s signature when it has the keys`, { skip }, async () => {
    const folder = temporaryFolder('webhook-keys')
    const { tenantId, key: own } = await harness.tenantWithKey({ scopes: ['age:write', 'age:read'] })
    await harness.wire.webhooks.webhookKeys.create({ tenantId, livemode: false })
    const published = await harness.inject(`/.well-known/ostiary-webhook-keys/${tenantId}.json?mode=test`)
    writeFileSync(join(folder, 'keys.json'), published.body)
    const receiver = await startReceiver(language, { OSTIARY_WEBHOOK_KEYS: join(folder, 'keys.json') })
    // What somebody with a leaked API key can make: valid HMACs, and no v1a.
    const timestamp = String(Math.floor(Date.now() / 1000))
    const body = captured.body
    const secret = await standardWebhookSecret(own)
    const hmac = await signStandardWebhook(secret, { id: 'test', timestamp, body })
    const forged = {
      'x-service-timestamp': timestamp,
      'x-service-signature': await signWebhook(own, timestamp, body),
      'webhook-id': 'test',
      'webhook-timestamp': timestamp,
    }
    const send = async (headers: Record<string, string>) =>
      (await fetch(receiver.url, { method: 'POST', headers, body: Uint8Array.from(body) })).status
    assert.equal(await send({ ...forged, 'webhook-signature': hmac }), 401)
    const pretended = `v1a,${Buffer.alloc(64, 1).toString('base64')}`
    assert.equal(await send({ ...forged, 'webhook-signature': `${hmac} ${pretended}` }), 401)
    const sessionOf = key
    key = own
    try {
      assert.equal((await deliveryOf(await endedSession(receiver.url))).state, 'delivered')
    } finally {
      key = sessionOf
    }
    const page = readFileSync(new URL('webhooks.md', DOCS), 'utf8')
    const shown = [...page.matchAll(new RegExp(`\`\`\`${language.fence}\\b.*\\n([\\s\\S]*?)\`\`\``, 'g'))]
      .map(([, code = '']) => code.trim())
      .find((code) => code.includes('function verifyKeyPair'))
    assert.ok(shown && readFileSync(language.file, 'utf8').includes(shown), 'the document shows what runs')
  })
}

test('[C-062] [C-063] the document tells a receiver to recompute, to compare in constant time, and that the window is optional', () => {
  const page = readFileSync(new URL('webhooks.md', DOCS), 'utf8').replace(/\s+/g, ' ')
  assert.match(
    page,
    /recomputes the HMAC over the raw bytes and compares it, in constant time, with what follows `sha256=`/,
  )
  assert.match(page, /may also refuse timestamps outside a window, for example 5 minutes; this check is optional/)
})

test('[X-021] webhooks are the only channel by which the service tells a host’s server of events', () => {
  const page = readFileSync(new URL('webhooks.md', DOCS), 'utf8').replace(/\s+/g, ' ')
  assert.match(page, /Webhooks are the only channel by which the service tells your server of an event\./)
  assert.match(
    page,
    /For development, test keys also have \[the event stream\].*; live keys only where the operator sets/,
  )
  assert.match(page, /It is no second channel of the interface, and not for production/)
  // One stream is for the launch page: it takes a device's signature and no API key. The other one is the extension.
  const streams = OPERATIONS.filter(({ success }) =>
    Object.values(success).some(({ description }) => description.includes('event-stream')),
  )
  assert.deepEqual(
    streams.map(({ operationId, auth }) => ({ operationId, auth })),
    [
      { operationId: 'launchStatus', auth: 'none' },
      { operationId: 'listEvents', auth: 'required' },
    ],
  )
})
