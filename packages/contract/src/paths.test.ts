import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LAUNCH_API, LAUNCH_PATHS, OPERATIONS } from './index.ts'

test('the paths of the device API are those of its operations, each once', () => {
  const ofOperations = OPERATIONS.filter(({ operationId }) => operationId.startsWith('launch')).map(({ path }) => path)
  assert.deepEqual(ofOperations.toSorted(), Object.values(LAUNCH_PATHS).toSorted())
  for (const [name, path] of Object.entries(LAUNCH_PATHS)) {
    const operationId = `launch${name.charAt(0).toUpperCase()}${name.slice(1)}`
    assert.equal(OPERATIONS.find((operation) => operation.operationId === operationId)?.path, path)
    assert.ok(path.startsWith(LAUNCH_API))
  }
})
