/** Generators that integrators use, run on docs/openapi.json: what they make compiles, and reads the document's own examples. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient as generateClient } from '@hey-api/openapi-ts'
import { ROOT } from '@ostiary/testkit/run'
import openapiTypes, { astToString } from 'openapi-typescript'
import { InputData, JSONSchemaInput, quicktype } from 'quicktype-core'

interface Content {
  schema: { $ref?: string }
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

const run = promisify(execFile)
const text = await readFile(`${ROOT}docs/openapi.json`, 'utf8')
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ostiary-generators-'))
  await writeFile(join(folder, 'openapi.json'), text)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
})
after(() => rm(folder, { recursive: true, force: true }))

/** What an integrator writes by the types of openapi-typescript. A field that the document does not have is an error here. */
const BY_TYPES = `
import type { components, operations, paths, webhooks } from './types.ts'

type Created = paths['/session']['post']['responses'][201]['content']['application/json']
export const launchUrl = (created: Created): string => created.launchUrl

export const body: components['schemas']['CreateSession'] = {
  redirectUrl: 'https://shop.example',
  ageThreshold: 30,
  stepUpEnabled: true,
  documentInDoubt: true,
  documentAgeThreshold: 18,
}
// @ts-expect-error the threshold is a number
export const wrong: components['schemas']['CreateSession'] = { redirectUrl: 'https://shop.example', ageThreshold: '30' }

type Completed = webhooks['age.session.completed']['post']['requestBody']['content']['application/json']
export function mayEnter({ flowStatus, status, riskEvaluation }: Completed): boolean {
  const atLeast: (typeof status)[] = ['AGE_AT_THRESHOLD', 'AGE_ABOVE_THRESHOLD']
  return atLeast.includes(status) && flowStatus === 'COMPLETED' && riskEvaluation.recommendation === 'ALLOW'
}
type Failed = webhooks['verification.failed']['post']['requestBody']['content']['application/json']
export const codes = ({ errors }: Failed): number[] => errors.map(({ code }) => code)
export const query: operations['listSessions']['parameters']['query'] = { limit: 10 }
`

/** The same by the client of hey-api. */
const BY_CLIENT = `
import { createSession, getSessionResult } from './client/sdk.gen.js'
import type { AgeResult, VerificationWebhook } from './client/types.gen.js'

export async function start(): Promise<string | undefined> {
  const gate = { ageThreshold: 30, stepUpEnabled: true, documentInDoubt: true, documentAgeThreshold: 18 }
  const { data } = await createSession({ body: { redirectUrl: 'https://shop.example', ...gate } })
  return data?.launchUrl
}
export const read = async (token: string): Promise<AgeResult | undefined> =>
  (await getSessionResult({ path: { token }, query: { wait: 20 } })).data
export const person = ({ puid }: VerificationWebhook): string | undefined => puid
`

const COMPILERS = {
  'TypeScript 7': `${ROOT}node_modules/typescript/bin/tsc`,
  'TypeScript 5.9': fileURLToPath(import.meta.resolve('typescript-5/bin/tsc')),
}

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['by-types.ts', 'types.ts', 'by-client.ts', 'client'],
}

describe('openapi-typescript and @hey-api/openapi-ts', () => {
  before(async () => {
    // By default it takes every field with a default for one that is always there, in requests too.
    const types = await openapiTypes(JSON.parse(text), { defaultNonNullable: false })
    await writeFile(join(folder, 'types.ts'), astToString(types))
    await writeFile(join(folder, 'by-types.ts'), BY_TYPES)
    await generateClient({
      input: join(folder, 'openapi.json'),
      output: { path: join(folder, 'client') },
      plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
      logs: { level: 'silent' },
    })
    await writeFile(join(folder, 'by-client.ts'), BY_CLIENT)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  })
  for (const [name, compiler] of Object.entries(COMPILERS))
    test(`what they make compiles with ${name}, strict`, async () => {
      const compiled = await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => ({ stdout }))
      assert.equal(compiled.stdout, '')
    })
})

/** The schemas that a host in Python reads and writes. */
const IN_PYTHON = ['AgeResult', 'VerificationWebhook', 'CreateSession', 'CreatedSession', 'CreateVerification'].concat([
  'CreatedVerification',
  'VerificationSummary',
  'ScreenReply',
  'WebhookDeliveryPage',
  'Error',
])

/** All examples that the document has of these schemas, at answers, requests and webhooks. */
function examplesBySchema(): Record<string, unknown[]> {
  const found: Record<string, unknown[]> = {}
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const { schema, example, examples } = part as Partial<Content>
    const name = schema?.$ref?.split('/').pop() ?? ''
    const values = example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example]
    if (IN_PYTHON.includes(name) && values.length > 0) found[name] = [...(found[name] ?? []), ...values]
    for (const inner of Object.values(part)) visit(inner)
  }
  const { paths, webhooks } = JSON.parse(text)
  visit([paths, webhooks])
  return found
}

describe('quicktype', () => {
  test('its Python types compile and read every example, and write it again', async () => {
    const input = new JSONSchemaInput(undefined)
    for (const name of IN_PYTHON) await input.addSource({ name, uris: [`#/components/schemas/${name}`], schema: text })
    const inputData = new InputData()
    inputData.addInput(input)
    const { lines } = await quicktype({ inputData, lang: 'python', rendererOptions: { 'python-version': '3.7' } })
    const file = join(folder, 'ostiary_types.py')
    await writeFile(file, lines.join('\n'))
    await run('/usr/bin/python3', ['-m', 'py_compile', file])

    const examples = examplesBySchema()
    await writeFile(join(folder, 'examples.json'), JSON.stringify(examples))
    const script = `${ROOT}tests/acceptance/python/generated_types.py`
    const { stdout } = await run('/usr/bin/python3', [script, folder])
    const count = Object.values(examples).flat().length
    assert.ok(count >= 20, `${count} examples`)
    assert.equal(stdout, `${count} AGE_ABOVE_THRESHOLD ALLOW 2026\n`)
  })
})
