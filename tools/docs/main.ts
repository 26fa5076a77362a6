/** `npm run docs` writes docs/openapi.json and the tables of documents that are made from code; `--check` fails when one is out of date. */
import { readFileSync, writeFileSync } from 'node:fs'
import { OPENAPI_PARTS, OPERATIONS, toOpenApi, VERSION } from '@ostiary/contract'
import { ROOT } from '@ostiary/testkit/run'
import { withTables } from './table.ts'
import { readTables } from './tables.ts'

const openApi = toOpenApi(OPERATIONS, { title: 'Ostiary', version: VERSION }, OPENAPI_PARTS)
const made: Record<string, (current: string) => string> = {
  'docs/openapi.json': () => `${JSON.stringify(openApi, null, 2)}\n`,
}
for (const [path, tables] of Object.entries(await readTables())) made[path] = (current) => withTables(current, tables)

const check = process.argv.includes('--check')
let stale = 0
for (const [path, make] of Object.entries(made)) {
  const current = readFileSync(`${ROOT}${path}`, 'utf8')
  const text = make(current)
  if (current === text) continue
  if (check) {
    stale++
    console.error(`${path} is out of date: run "npm run docs"`)
  } else {
    writeFileSync(`${ROOT}${path}`, text)
    console.log(`wrote ${path}`)
  }
}
if (check) console.log(stale === 0 ? 'docs: what is generated is up to date' : `docs: ${stale} out of date`)
process.exitCode = stale === 0 ? 0 : 1
