/** `npm run tidy`: checks the house rules over the whole tree. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { ERRORS, NODE_ERRORS } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { ROOT } from '@ostiary/testkit/run'
import { ACROSS_TENANTS } from './across-tenants.ts'
import { checkImports } from './imports.ts'
import { checkErrorDocs, checkSources, checkStatementNames, type SourceFile, type Violation } from './rules.ts'
import { checkSessionCodes } from './session-codes.ts'
import { checkFlow, checkFunctions, checkSessionCasts, checkSql, checkTypeImports } from './shape.ts'
import { checkTenants, tenantTables } from './tenants.ts'

export const readSources = (): SourceFile[] => readFiles('*.ts', '*.tsx')

function readFiles(...patterns: readonly string[]): SourceFile[] {
  const options = ['--cached', '--others', '--exclude-standard']
  const listed = execFileSync('git', ['ls-files', ...options, ...patterns], { cwd: ROOT, encoding: 'utf8' })
  return [...new Set(listed.split('\n'))]
    .filter((path) => path !== '')
    .flatMap((path) => {
      try {
        return [{ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }]
      } catch {
        return [] // deleted, not yet committed
      }
    })
}

async function checkAll(): Promise<Violation[]> {
  const files = readSources()
  const errorDocs = { path: 'docs/errors.md', text: readFileSync(`${ROOT}docs/errors.md`, 'utf8') }
  return [
    ...(await checkImports(
      ROOT,
      files.map(({ path }) => path),
    )),
    ...checkSources(files),
    ...checkStatementNames(files),
    ...checkFunctions(files),
    ...checkSql(files),
    ...checkTenants(files, tenantTables(readFiles('apps/server/migrations/*.sql')), ACROSS_TENANTS),
    ...checkFlow(files),
    ...checkSessionCasts(files),
    ...checkTypeImports(files),
    ...checkSessionCodes(files, Object.values(codes)),
    ...checkErrorDocs([...Object.keys(ERRORS), ...Object.keys(NODE_ERRORS)], errorDocs),
  ]
}

const violations = await checkAll()
for (const { path, line, message } of violations) console.error(`${path}:${line}: ${message}`)
console.log(violations.length === 0 ? 'tidy: everything in its place' : `tidy: ${violations.length} to mend`)
process.exitCode = violations.length === 0 ? 0 : 1
