import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkFlow, checkFunctions, checkSessionCasts, checkSql, checkTypeImports } from './shape.ts'

const file = (path: string, text: string) => ({ path, text })
const lines = (count: number, text: string) => Array.from({ length: count }, () => text).join('\n')

describe('long functions', () => {
  const long = `export function decide(): void {\n${lines(60, '  work()')}\n}\n`

  test('a planted function of more than 60 lines is found, however it is written', () => {
    for (const text of [
      long,
      `export const decide = (): void => {\n${lines(60, '  work()')}\n}\n`,
      `export const service = {\n  decide() {\n${lines(60, '    work()')}\n  },\n}\n`,
      `export function createX() {\n  return { decide() {\n${lines(60, '    work()')}\n  } }\n}\n`,
    ]) {
      assert.equal(checkFunctions([file('apps/server/src/age/a.ts', text)]).length, 1, text.slice(0, 60))
    }
  })

  test('composition may be long: closures count by themselves', () => {
    const closures = lines(10, `  function part() {\n${lines(20, '    work()')}\n  }`)
    const text = `export function createX() {\n${closures}\n  return { part }\n}\n`
    assert.deepEqual(checkFunctions([file('apps/server/src/age/a.ts', text)]), [])
  })

  test('tests are left out', () => {
    assert.deepEqual(checkFunctions([file('apps/server/src/age/a.test.ts', long)]), [])
  })
})

describe('SQL', () => {
  test('a planted statement outside of stores and platform is found, however it is written', () => {
    for (const statement of [
      `'select 1 from sessions'`,
      '`\n  insert into sessions values ($1)`',
      '`delete from $' + '{table}`',
      `'update sessions set state = $1'`,
      '`with due as (select 1) select * from due`',
    ]) {
      const found = checkSql([file('apps/server/src/age/service.ts', `const text = ${statement}\n`)])
      assert.equal(found.length, 1, statement)
      assert.deepEqual(checkSql([file('apps/server/src/age/store.ts', `const text = ${statement}\n`)]), [])
      assert.deepEqual(checkSql([file('apps/server/src/webhooks/queue-store.ts', `const text = ${statement}\n`)]), [])
      assert.deepEqual(checkSql([file('apps/server/src/platform/partitions.ts', `const text = ${statement}\n`)]), [])
    }
  })

  test('a sentence that begins like a statement is allowed', () => {
    assert.deepEqual(checkSql([file('apps/server/src/age/service.ts', `const text = 'updates are sent'\n`)]), [])
  })
})

describe('the port between launch and the areas', () => {
  const flow = (count: number) => [
    file('apps/server/src/sessions/flow.ts', `export interface Flow {\n${lines(count, '  member(): void')}\n}\n`),
  ]

  test('a ninth member is found', () => {
    assert.deepEqual(checkFlow(flow(8)), [])
    assert.equal(checkFlow(flow(9))[0]?.message, 'Flow has 9 members; 8 are the limit')
  })

  test('a Flow that was moved is reported, so that the rule cannot silently stop working', () => {
    assert.equal(checkFlow([file('apps/server/src/sessions/flow.ts', 'export {}\n')]).length, 1)
  })
})

test('a cast from one area’s session to another’s is found', () => {
  for (const text of [
    'found as AgeSession',
    '(await find(id)) as VerificationSession | undefined',
    'x as FlowSession[]',
  ]) {
    assert.equal(checkSessionCasts([file('apps/server/src/age/a.ts', `const s = ${text}\n`)]).length, 1, text)
  }
  assert.deepEqual(checkSessionCasts([file('apps/server/src/age/a.ts', 'const s = found as const\n')]), [])
})

test('an import of ours inside a type is found', () => {
  for (const text of [`let a: import('./b.ts').B`, `type A = typeof import('@ostiary/server/operate')`])
    assert.equal(checkTypeImports([file('packages/sdk/src/a.ts', text)]).length, 1, text)
  for (const text of [`const a = await import('./b.ts')`, `type A = typeof import('typebox').Static`])
    assert.deepEqual(checkTypeImports([file('packages/sdk/src/a.ts', text)]), [], text)
})
