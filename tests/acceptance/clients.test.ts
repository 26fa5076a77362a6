/** The clients in Python and PHP as hosts use them: installed from the clone, against a running installation. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createClient } from '@ostiary/sdk'
import { eventually } from '@ostiary/testkit/eventually'
import { ROOT } from '@ostiary/testkit/root'
import { setting } from '@ostiary/testkit/setting'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { type Language, PYTHON, php, python, run, startReceiver } from './clients/languages.ts'

const system = { OSTIARY_URL: setting('OSTIARY_URL'), OSTIARY_API_KEY: setting('OSTIARY_TEST_KEY_ONE') }
const host = {
  ...system,
  LIVE_KEY: setting('OSTIARY_LIVE_KEY_ONE'),
  CLIENT_ID: setting('OSTIARY_LIVE_CLIENT_ID'),
  CLIENT_SECRET: setting('OSTIARY_LIVE_CLIENT_SECRET'),
}

async function json<T>(language: Language, command: readonly string[], env: Record<string, string>, input?: unknown) {
  return JSON.parse(await run(command, { ...language.env, ...env }, JSON.stringify(input ?? null))) as T
}

const random = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 31 - 1
const face = () => Array.from({ length: 128 }, random)
const picture = (of: readonly number[]) => of.map((value) => value + random() * 0.05)

for (const language of [python, php]) {
  describe(`a host in ${language.name}`, { skip: language.missing }, () => {
    test('makes sessions of areas C and D, ends, cancels, reads and lists them, and receives their webhooks', async () => {
      const receiver = await startReceiver(language, [setting('OSTIARY_TEST_KEY_TWO'), system.OSTIARY_API_KEY])
      try {
        const order = randomUUID()
        const env = { ...host, CALLBACK_URL: receiver.url, ORDER: order }
        const { ids, listed, ...facts } = await json<{ ids: string[]; listed: string[] }>(
          language,
          language.program('host'),
          env,
        )
        assert.deepEqual(facts, {
          warnings: ['estimate-without-buffer'],
          open: null,
          completed: 'AGE_ABOVE_THRESHOLD',
          state: 'COMPLETED',
          cancelled: 'CANCELLED',
          cancelledAgain: [409, 'SESSION_NOT_OPEN'],
          openWebhook: [409, 'SESSION_OPEN'],
          enrolled: 'SUCCESS',
          failed: 'FAILED',
          listedVerifications: 2,
          isOneSession: true,
          live: true,
          withoutCredentials: 401,
          unknown: [404, 'NOT_FOUND'],
          refused: [400, 'VALIDATION_FAILED'],
          key: 0,
        })
        assert.deepEqual(listed, ids.slice(0, 2).sort())
        await eventually(
          () => receiver.lines().length >= 4,
          () => JSON.stringify(receiver.lines()),
        )
        const text = 'Größe 44 / 🎂'
        const events = Object.fromEntries(
          receiver.lines().map(({ sessionId, id, ...line }) => [String(sessionId), line]),
        )
        const arrived = { attempt: 1, host: 'host-1' }
        assert.deepEqual(events, {
          [String(ids[0])]: { ...arrived, event: 'age.session.completed', text },
          [String(ids[1])]: { ...arrived, event: 'age.session.cancelled', text },
          [String(ids[2])]: { ...arrived, event: 'verification.succeeded', text: null },
          [String(ids[3])]: { ...arrived, event: 'verification.failed', text: null },
        })
      } finally {
        await receiver.stop()
      }
    })

    test('refuses webhooks of a key that is not on its list', async () => {
      const receiver = await startReceiver(language, [setting('OSTIARY_TEST_KEY_TWO')])
      try {
        const { age, test: mode } = testClient()
        const made = await age.create({
          redirectUrl: 'https://shop.example/done',
          ageThreshold: 30,
          callback: { url: receiver.url },
        })
        await mode(made.sessionId)
        await eventually(() => receiver.lines().length > 0)
        // The hint at the key says more, unless both tenants have the same bucket.
        assert.match(String(receiver.lines()[0]?.refused), /^(wrong_key|key_not_listed|signature_wrong)$/)
        await age.erase(made.token)
      } finally {
        await receiver.stop()
      }
    })
  })
}

/** The SDK, and the call that ends a test session. */
function testClient() {
  const { age } = createClient({ baseUrl: system.OSTIARY_URL, apiKey: system.OSTIARY_API_KEY })
  return {
    age,
    async test(sessionId: string) {
      const headers = { 'x-api-key': system.OSTIARY_API_KEY, 'content-type': 'application/json' }
      const url = `${system.OSTIARY_URL}/test/sessions/${sessionId}/outcome`
      const response = await fetch(url, { method: 'POST', headers, body: '{}' })
      assert.ok(response.ok, String(response.status))
    },
  }
}

const missingLanguages = python.missing || php.missing
test('a face that one language enrols is found by the others and by the SDK', { skip: missingLanguages }, async () => {
  const { node } = createClient({ baseUrl: system.OSTIARY_URL, apiKey: system.OSTIARY_API_KEY })
  interface Person {
    puid: string
    guid: string
    isNew: boolean
  }
  for (const [enrolling, finding] of [
    [php, python],
    [python, php],
  ] as const) {
    const [someone, call] = [face(), (of: Language, name: string) => [...of.program('face'), name]]
    const enrolled = await json<Person>(enrolling, call(enrolling, 'enroll'), system, [
      picture(someone),
      picture(someone),
    ])
    assert.equal(enrolled.isNew, true)
    const found = await json<Person[]>(finding, call(finding, 'predict'), system, [picture(someone)])
    const [bySdk] = await node.predict([{ type: 'face', embedding_vector: picture(someone) }])
    for (const candidate of [found[0], bySdk]) {
      assert.deepEqual([candidate?.puid, candidate?.guid], [enrolled.puid, enrolled.guid])
    }
    assert.equal(await json(finding, call(finding, 'delete'), system, enrolled.puid), true)
    assert.deepEqual(await json(enrolling, call(enrolling, 'predict'), system, [picture(someone)]), [])
  }
})

test('the Python package installs from the clone, off-line, into an environment of its own', {
  skip: python.missing || (!existsSync('/usr/lib/python3/dist-packages/pip') && 'Debian’s pip is not installed'),
}, async () => {
  const folder = temporaryFolder('python')
  // A copy, because the build writes beside the sources.
  cpSync(`${ROOT}clients/python`, join(folder, 'clone'), { recursive: true })
  const env = {
    HOME: folder,
    PATH: process.env.PATH ?? '',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_CONFIG_FILE: '/dev/null',
  }
  // Debian's own pip and setuptools serve: nothing comes from a network.
  await run([PYTHON, '-m', 'venv', '--without-pip', '--system-site-packages', join(folder, 'venv')], env)
  const inside = join(folder, 'venv/bin/python')
  await run([inside, '-m', 'pip', 'install', '-q', '--no-index', '--no-build-isolation', join(folder, 'clone')], env)
  const script =
    'import importlib.metadata, ostiary, pathlib; here = pathlib.Path(ostiary.__file__); ' +
    'print(importlib.metadata.version("ostiary"), ostiary.__version__, (here.parent / "py.typed").exists(), here)'
  const [version, own, isTyped, file] = (await run([inside, '-c', script], env)).trim().split(' ')
  assert.equal(version, own)
  assert.equal(isTyped, 'True')
  assert.ok(file?.startsWith(join(folder, 'venv')), file)
})
