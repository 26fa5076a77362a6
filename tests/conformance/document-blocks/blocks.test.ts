import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { before, test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { readDocuments } from './documents.ts'
import {
  fileComplaints,
  jsonComplaints,
  PHP,
  PYTHON,
  shellComplaints,
  syntaxComplaints,
  typeComplaints,
} from './parse.ts'
import { programsOf } from './programs.ts'
import { createProject } from './project.ts'

const documents = [...readDocuments().values()]
const blocks = documents.flat()
const programs = documents.flatMap(programsOf)
const folder = temporaryFolder('blocks')

before(() => createProject(folder, programs, new Map()))

test('the JSON of every document parses', () => assert.deepEqual(jsonComplaints(blocks), []))

test('the shell blocks of every document parse', () => assert.deepEqual(shellComplaints(blocks), []))

test('the TypeScript of every document compiles strictly against the SDK', () =>
  assert.deepEqual(typeComplaints(folder, programs), []))

test('the JavaScript of every document parses', () => assert.deepEqual(syntaxComplaints(folder, programs, 'js'), []))

const without = (program: string) => (existsSync(program) ? false : `${program} is missing: tools/bootstrap`)

test('the Python of every document parses', { skip: without(PYTHON) }, () =>
  assert.deepEqual(syntaxComplaints(folder, programs, 'python'), []),
)

test('the PHP of every document parses', { skip: without(PHP) }, () =>
  assert.deepEqual(syntaxComplaints(folder, programs, 'php'), []),
)

test('a block from a file is what stands in the file, and the file is run', () =>
  assert.deepEqual(fileComplaints(blocks), []))
