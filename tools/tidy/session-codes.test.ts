import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as codes from '@ostiary/contract/codes'
import { checkSessionCodes } from './session-codes.ts'

const PAGE = 'apps/launch/src/flow/a.ts'
const found = (text: string, path = PAGE) => checkSessionCodes([{ path, text }], Object.values(codes))

test('a planted session code is found in every form that the tree once had', () => {
  for (const text of [
    'const CONSENT_DECLINED = -18',
    'const step = { state, progress, errors: [-18], end }',
    'const NOT_THE_PERSON: readonly number[] = [-9, -36]',
    "const TIP_OF = new Map([\n  [-7, 'camera'],\n])",
    'const CODE_OF = {\n  no_face: -12,\n}',
    'throw new CaptureFailure(-32)',
    'if (errors.includes(-35)) stop()',
    'if (code === -100) stop()',
    'device.failure(-25, reason)',
    'const errors = [1]',
    'const reply = { errors: [2, more] }',
    'if (view.session?.errors.includes(1)) stop()',
    'const reply = { codes: [other, 2] }',
    'const codes = [2] as const',
  ])
    assert.ok(found(text).length > 0, text)
  assert.equal(found('a\nb\nconst list = [\n  -18,\n]')[0]?.line, 4)
  for (const path of [
    'apps/server/src/launch/a.ts',
    'apps/cli/src/a.ts',
    'packages/device/src/a.ts',
    'packages/sdk/src/a.ts',
  ])
    assert.equal(found('const A = -18', path).length, 1, path)
})

test('names of codes, other numbers, texts and tests are left alone', () => {
  for (const text of [
    'errors.includes(codes.CONSENT_DECLINED)',
    'const left = total -18',
    'const left = total - 18',
    'const left = list.length - 7',
    'const last = text.slice(0, -5)',
    'const last = bytes.at(-9)',
    'const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}$/',
    '/** Ends the flow with -18. */',
    "const text = 'ends with -18'",
    'const share = -0.5',
    'const degrees = -45',
    'const errors = [10, many]',
    'const one = errors.length === 1',
    'const errors = [more, other]',
  ])
    assert.deepEqual(found(text), [], text)
  assert.deepEqual(found('const errors = [-18]', 'apps/launch/src/flow/a.test.ts'), [])
  assert.deepEqual(found('const errors = [-18]', 'apps/server/src/launch/testing/a.ts'), [])
  assert.deepEqual(found('const A = -10', 'packages/faces/src/pose.ts'), [])
})
