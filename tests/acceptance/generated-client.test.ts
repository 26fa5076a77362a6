/** A client that a generator makes from the served OpenAPI document: its types are checked by the compiler, then it creates sessions. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createClient as generate } from '@hey-api/openapi-ts'
import { ROOT } from '@ostiary/testkit/run'
import { setting } from '@ostiary/testkit/setting'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'

const run = promisify(execFile)
const folder = temporaryFolder('generated')

/** What a host would write. It is compiled first: a field that the document does not require, or does not have, is an error there. */
const HOST = `
import { client } from './generated/client.gen.js'
import { createVerification, getVerification } from './generated/sdk.gen.js'

const { BASE_URL = '', API_KEY = '', CLIENT_ID, CLIENT_SECRET } = process.env
client.setConfig({
  baseUrl: BASE_URL,
  auth: ({ name, scheme }) => {
    if (name === 'x-api-key') return API_KEY
    return scheme === 'basic' && CLIENT_ID ? \`\${CLIENT_ID}:\${CLIENT_SECRET}\` : undefined
  },
})
const callback = { url: 'https://shop.example/hooks/ostiary', headers: { 'X-Shop': '7' } }
const redirectURL = 'https://shop.example/welcome'
// @ts-expect-error redirectURL is required
await createVerification({ body: { type: 'ENROLL', callback } }).catch(() => {})
// @ts-expect-error there is no such type
await createVerification({ body: { type: 'SIGNIN', redirectURL, callback } }).catch(() => {})

const created = await createVerification({ body: { type: 'ENROLL', redirectURL, callback, transactionID: 'order-4711' } })
if (!created.data) throw new Error(JSON.stringify(created.error))
const { launchUrl, sessionId }: { launchUrl: string; sessionId: string } = created.data
const read = await getVerification({ path: { sessionId } })
console.log(JSON.stringify({ status: created.response?.status, launchUrl, sessionId, read: read.data }))
`

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [`${ROOT}node_modules/@types`],
    skipLibCheck: true,
    outDir: 'out',
  },
  include: ['host.ts', 'generated'],
}

test('[D-009] [D-030] a client generated from the OpenAPI document compiles and creates sessions, with a key and with client credentials', async () => {
  const served = await fetch(`${setting('OSTIARY_URL')}/openapi.json`)
  await writeFile(join(folder, 'openapi.json'), await served.text())
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  await writeFile(join(folder, 'host.ts'), HOST)
  await generate({
    input: join(folder, 'openapi.json'),
    output: { path: join(folder, 'generated'), tsConfigPath: join(folder, 'tsconfig.json') },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
    logs: { level: 'silent' },
  })
  const compiled = await run(process.execPath, [`${ROOT}node_modules/typescript/bin/tsc`, '-p', folder]).catch(
    ({ stdout }) => ({ stdout }),
  )
  assert.equal(compiled.stdout, '', 'the host compiles against the generated types')

  const callers = [
    { API_KEY: setting('OSTIARY_TEST_KEY_ONE') },
    {
      API_KEY: setting('OSTIARY_LIVE_KEY_ONE'),
      CLIENT_ID: setting('OSTIARY_LIVE_CLIENT_ID'),
      CLIENT_SECRET: setting('OSTIARY_LIVE_CLIENT_SECRET'),
    },
  ]
  for (const caller of callers) {
    const env = { ...process.env, BASE_URL: setting('OSTIARY_URL'), ...caller }
    const { stdout } = await run(process.execPath, [join(folder, 'out/host.js')], { env })
    const { status, launchUrl, sessionId, read } = JSON.parse(stdout)
    assert.equal(status, 201)
    assert.ok(launchUrl.includes(sessionId))
    assert.deepEqual([read.sessionId, read.state, read.transactionId], [sessionId, 'CREATED', 'order-4711'])
  }
})
