/** `npm run docs` writes the documents that are made from code; `--check` fails when one of them is out of date. */
import { readFileSync, writeFileSync } from 'node:fs'
import { ERRORS, NODE_ERRORS, NODE_STATUSES, OPENAPI_PARTS, OPERATIONS, toOpenApi, VERSION } from '@ostiary/contract'
import { isSecret, Settings } from '@ostiary/server/conformance'
import { ROOT } from '@ostiary/testkit/run'
import type { TSchema } from 'typebox'
import { limitsChapter } from './limits.ts'
import { riskFlagsDocument, sessionCodesDocument } from './risk-docs.ts'
import { readTables, retentionList, tableList, withGenerated } from './tables.ts'

const tables = await readTables()

const DOCUMENTS: Record<string, () => string> = {
  'docs/architecture.md': () => withGenerated(readCurrent('docs/architecture.md'), 'tables', tableList(tables)),
  'docs/privacy.md': () => withGenerated(readCurrent('docs/privacy.md'), 'retention', retentionList(tables)),
  'docs/configuration.md': configuration,
  'docs/errors.md': errors,
  'docs/risk-flags.md': riskFlagsDocument,
  'docs/session-codes.md': sessionCodesDocument,
  'docs/openapi.json': () =>
    `${JSON.stringify(toOpenApi(OPERATIONS, { title: 'Ostiary', version: VERSION }, OPENAPI_PARTS), null, 2)}\n`,
}

function configuration(): string {
  const rows = Object.entries(Settings.properties).map(([name, schema]) => {
    const { description = '', default: fallback } = schema as TSchema & { description?: string; default?: unknown }
    const shown =
      fallback === undefined
        ? isSecret(schema)
          ? 'secret, none'
          : 'none'
        : fallback === ''
          ? 'empty'
          : `\`${fallback}\``
    return `| \`${name}\` | ${shown} | ${description} |`
  })
  return `# Configuration

<!-- Generated from apps/server/src/config.ts and packages/contract/src/limits.ts by "npm run docs". Do not edit. -->

Everything is set by environment variables, read once when a process starts. A process that finds something wrong names
**all** of it and does not start. An empty variable counts as not set.

Secrets have no default. Each can be given in a file instead: set \`MASTER_KEY_FILE\` or \`DATABASE_URL_FILE\` to its path.

| Setting | Default | Meaning |
|---|---|---|
${rows.join('\n')}

## Examples

\`\`\`ini
# The least that works
DATABASE_URL=postgres://ostiary:…@127.0.0.1:5432/ostiary
MASTER_KEY_FILE=/run/secrets/master_key

# What a production installation adds
HOST=0.0.0.0
PUBLIC_URL=https://check.example
AUTH_REQUIRED_AREAS=A,B
TRUST_PROXY=10.0.0.0/8
SHUTDOWN_DRAIN_MS=5000
\`\`\`

Check what you set with \`ostiary doctor\`.

${limitsChapter()}`
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, meaning, remedy }]) => `| \`${code}\` | ${status} | ${meaning} | ${remedy} |`,
  )
  const nodeRows = Object.entries(NODE_ERRORS).map(
    ([code, { http, status, message, meaning }]) =>
      `| \`${code}\` | ${http} | ${status} | \`${message}\` | ${meaning} |`,
  )
  const statuses = Object.entries(NODE_STATUSES)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([status, meaning]) => `| ${status} | ${meaning} |`)
  return `# Errors

<!-- Generated from packages/contract/src/errors.ts and node-errors.ts by "npm run docs". Do not edit. -->

Every error of areas A to D has this body:

\`\`\`json
{
  "statusCode": 400,
  "message": "The request is not valid: /body/value is required",
  "code": "VALIDATION_FAILED",
  "requestId": "019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa",
  "details": [{ "pointer": "/body/value", "message": "is required" }]
}
\`\`\`

- One is shorter: a wrong API key in area D is \`{"statusCode":401,"message":"Invalid API key"}\`, the two fields that the specification shows.
- \`code\` is stable: write programs against it. \`message\` is for people and may change.
- \`requestId\` is also in the header \`X-Request-ID\`. Quote it when you ask your operator for help.
- \`details\` comes with \`VALIDATION_FAILED\`, \`INVALID_URL\`, \`MISSING_CSV_HEADERS\` and \`UNKNOWN_DATASET\`, with some \`INVALID_CSV\`, and with \`RATE_LIMITED\` of area B, where it says the numbers.
- \`retryAfter\` (seconds) comes with \`RATE_LIMITED\` and \`TOO_MANY_FILES\`.
- A client that sends \`Accept: application/problem+json\` gets the same as problem details (RFC 9457).

| Code | Status | Meaning | What to do |
|---|---|---|---|
${rows.join('\n')}

## Area E, the biometric node

Every error of area E has this body, and nothing else:

\`\`\`json
{ "status": -2, "message": "Enrollment Failed Features not provided." }
\`\`\`

What the numbers in \`status\` mean:

| Status | Meaning |
|---|---|
${statuses.join('\n')}

All cases. A message may go on after a colon with the reason. The code is not sent: it stands in the operator's log.

| Code | HTTP | \`status\` | Message | Meaning |
|---|---|---|---|---|
${nodeRows.join('\n')}

"User not enrolled" is an answer, not an error: HTTP 200 with \`status\` -1.
`
}

const check = process.argv.includes('--check')
let stale = 0
for (const [path, make] of Object.entries(DOCUMENTS)) {
  const text = make()
  const current = readCurrent(path)
  if (current === text) continue
  if (check) {
    stale++
    console.error(`${path} is out of date: run "npm run docs"`)
  } else {
    writeFileSync(`${ROOT}${path}`, text)
    console.log(`wrote ${path}`)
  }
}
if (check) console.log(stale === 0 ? 'docs: generated documents are up to date' : `docs: ${stale} out of date`)
process.exitCode = stale === 0 ? 0 : 1

function readCurrent(path: string): string {
  try {
    return readFileSync(`${ROOT}${path}`, 'utf8')
  } catch {
    return ''
  }
}
