import assert from 'node:assert/strict'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { isUpToDate } from './launch-page.ts'
import { temporaryFolder } from './temporary-folder.ts'

function createCheckout() {
  const root = temporaryFolder('build')
  return {
    write(path: string, seconds: number) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), path)
      utimesSync(join(root, path), seconds, seconds)
    },
    isUpToDate: () => isUpToDate({ root, sources: ['src/**/*', 'index.html'], built: ['dist/a.js', 'dist/b.json'] }),
  }
}

test('a build is up to date when it is complete and no source is newer', () => {
  const checkout = createCheckout()
  checkout.write('index.html', 100)
  checkout.write('src/deep/main.ts', 200)
  assert.equal(checkout.isUpToDate(), false)
  checkout.write('dist/a.js', 300)
  assert.equal(checkout.isUpToDate(), false)
  // The copy keeps its modification time.
  checkout.write('dist/b.json', 50)
  assert.equal(checkout.isUpToDate(), true)
  checkout.write('src/deep/main.ts', 301)
  assert.equal(checkout.isUpToDate(), false)
})

test('a changed test does not need a new build', () => {
  const checkout = createCheckout()
  checkout.write('dist/a.js', 300)
  checkout.write('dist/b.json', 300)
  checkout.write('src/main.test.ts', 400)
  checkout.write('src/testing/rehearsal.ts', 400)
  assert.equal(checkout.isUpToDate(), true)
})
