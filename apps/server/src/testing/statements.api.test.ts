import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHarness } from './harness.ts'
import { loadStatements } from './statements.ts'

test('every named statement can be prepared on the schema as it is', async () => {
  const harness = await createHarness()
  const statements = await loadStatements()
  const faults: string[] = []
  for (const { name, text } of statements)
    await harness.database
      .query(`prepare "${name}" as ${text}`)
      .catch((error: Error) => faults.push(`${name}: ${error.message}`))
  assert.deepEqual(faults, [])
  assert.ok(statements.length > 100, String(statements.length))
})
