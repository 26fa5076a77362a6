import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'
import { isPinned, listBaseImages, unpinnedImages } from './images.ts'

const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8')
const dockerfile = read('deploy/Dockerfile')
const compose = read('compose.yaml')
/** Digests of nothing, for this test alone. */
const [NODE_DIGEST, DATABASE_DIGEST] = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)]

test('each base image stands in one place: an argument of the Dockerfile, a variable of compose.yaml', () => {
  const images = listBaseImages({ dockerfile, compose })
  assert.deepEqual(
    images.map(({ argument, file }) => [argument, file]),
    [
      ['NODE_IMAGE', 'deploy/Dockerfile'],
      ['DATABASE_IMAGE', 'compose.yaml'],
    ],
  )
  const direct = dockerfile.replace(/^FROM \S+ AS page$/m, 'FROM node:24 AS page')
  assert.throws(() => listBaseImages({ dockerfile: direct, compose }), /FROM node:24 names no argument/)
  const literal = compose.replace(/\$\{DATABASE_IMAGE:-([^}]+)\}/, '$1')
  assert.throws(() => listBaseImages({ dockerfile, compose: literal }), /no variable with a default/)
})

test('a tag is not enough, a digest is, with or without a tag', () => {
  assert.ok(isPinned(`node:24-bookworm-slim@sha256:${NODE_DIGEST}`))
  assert.ok(isPinned(`registry.example:5000/a/b@sha256:${NODE_DIGEST}`))
  for (const reference of [
    'node:24-bookworm-slim',
    'node',
    `sha256:${NODE_DIGEST}`,
    `node@sha256:${NODE_DIGEST.slice(1)}`,
    `node@sha256:${NODE_DIGEST.toUpperCase()}`,
    `node@sha256:${'0'.repeat(64)}`,
    `node@sha512:${NODE_DIGEST}`,
    `node @sha256:${NODE_DIGEST}`,
  ])
    assert.ok(!isPinned(reference), reference)
})

test('a release is refused until every image has its digest', () => {
  const pin = (text: string, argument: RegExp, digest: string) => text.replace(argument, `$1@sha256:${digest}`)
  const untagged = { dockerfile: dockerfile.replace(/@sha256:\w+/, ''), compose: compose.replace(/@sha256:\w+/, '') }
  const node = pin(untagged.dockerfile, /^(ARG NODE_IMAGE=\S+)$/m, NODE_DIGEST)
  const database = pin(untagged.compose, /(\$\{DATABASE_IMAGE:-[^}]+)(?=\})/, DATABASE_DIGEST)
  const problems = (files: { dockerfile: string; compose: string }) => unpinnedImages(listBaseImages(files))
  assert.equal(problems(untagged).length, 2)
  assert.match(
    problems({ ...untagged, compose: database }).join(),
    /^deploy\/Dockerfile: NODE_IMAGE is node:.*imagetools inspect node:/,
  )
  assert.match(problems({ ...untagged, dockerfile: node }).join(), /^compose\.yaml: DATABASE_IMAGE is pgvector/)
  assert.deepEqual(problems({ dockerfile: node, compose: database }), [])
})

test('the release step ends with an error and writes nothing to sign, whichever image has a tag only', () => {
  const run = spawnSync(process.execPath, [`${ROOT}tools/release/main.ts`, 'prepare', '--image', 'ostiary:latest'], {
    encoding: 'utf8',
  })
  assert.equal(run.status, 1)
  assert.match(run.stderr, /This is no release:/)
  assert.match(run.stderr, /--image is ostiary:latest, without a digest/)
  assert.equal(run.stdout, '')
})
